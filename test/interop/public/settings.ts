/** What the tests say in the environment, by the names of unified-testing */
export const settings = {
  isDialer: process.env.IS_DIALER === 'true',
  redis: needed('REDIS_ADDR'),
  security: process.env.SECURE_CHANNEL ?? 'noise',
  muxer: process.env.MUXER ?? 'yamux',

  /** In ms */
  timeout: Number(process.env.TEST_TIMEOUT_SECS ?? 180) * 1_000
}

if (needed('TRANSPORT') !== 'tcp') {
  throw new Error(`This is a TCP transport, and no ${process.env.TRANSPORT}`)
}

/** The key of this test in the redis that all tests share */
export function keyOf (name: string): string {
  return `${needed('TEST_KEY')}_${name}`
}

export function needed (name: string): string {
  const value = process.env[name]

  if (value == null || value === '') {
    throw new Error(`${name} is not set`)
  }

  return value
}
