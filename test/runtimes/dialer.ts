/*
 * The dialing process: `dialer.ts <kind> <control port> [title]` tries every
 * feature, or one, against a listening process, and prints a line of JSON for
 * each.
 */
import net from 'node:net'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { ENDS, FEATURES } from './features.ts'
import { Kit } from './kit.ts'
import type { Kind } from './kit.ts'
import type { Verbs } from './verbs.ts'

const TIMEOUT = 30_000

const [kind, port, only] = process.argv.slice(2)
const unhandled: string[] = []

process.on('unhandledRejection', (reason: any) => { unhandled.push(`unhandled rejection: ${reason?.name}: ${reason?.message}`) })
process.on('uncaughtException', error => { unhandled.push(`uncaught exception: ${error?.name}: ${error?.message}`) })

const control = net.connect(Number(port), '127.0.0.1')
const answers: Array<(answer: any) => void> = []

createInterface({ input: control }).on('line', line => { answers.shift()?.(JSON.parse(line)) })

/** Each method of it is called in the other process */
const there = new Proxy({}, {
  get: (_, verb) => async (...args: unknown[]) => {
    const { value, error } = await new Promise<any>(resolve => {
      answers.push(resolve)
      control.write(`${JSON.stringify({ verb, args })}\n`)
    })

    if (error != null) {
      throw new Error(`there: ${error}`)
    }

    return value
  }
}) as Verbs

for (const [i, { title, run }] of FEATURES.entries()) {
  if (only == null ? title === ENDS : title !== only) {
    continue
  }

  const here = new Kit(kind as Kind)
  let error: string | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  try {
    await Promise.race([
      run({ here, there }),
      new Promise((_resolve, reject) => { timer = setTimeout(() => { reject(new Error(`not within ${TIMEOUT / 1_000} s`)) }, TIMEOUT) })
    ])
  } catch (failure: any) {
    error = `${failure?.name}: ${failure?.message}`
  }

  clearTimeout(timer)
  await here.end()
  await there.end()
  error ??= unhandled[0]
  unhandled.length = 0
  process.stdout.write(`${JSON.stringify({ feature: i, error })}\n`)
}

control.destroy()

// timers of libp2p keep Deno alive for minutes
if (only !== ENDS) {
  process.exit()
}
