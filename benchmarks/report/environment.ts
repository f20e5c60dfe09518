import os from 'node:os'

/**
 * What a figure depends on besides the code
 */
export interface Environment {
  date: string
  command: string
  node: string
  kernel: string
  cpu: string
  cores: number
  memory: string

  /**
   * Processes ready to run, averaged over the last minute.
   */
  load: number
}

export function environment (): Environment {
  const cpus = os.cpus()

  return {
    date: new Date().toISOString(),
    command: ['npm run benchmark --', ...process.argv.slice(2)].join(' '),
    node: process.version,
    kernel: `${os.type()} ${os.release()} ${os.arch()}`,
    cpu: cpus[0]?.model ?? 'unknown',
    cores: cpus.length,
    memory: `${Math.round(os.totalmem() / 2 ** 30)} GiB`,
    load: os.loadavg()[0]
  }
}
