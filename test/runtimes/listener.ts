/*
 * The listening process: `listener.ts <kind>` prints the port of its control
 * socket, does what it is asked there, and ends when stdin does.
 */
import net from 'node:net'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { Kit } from './kit.ts'
import { Verbs } from './verbs.ts'
import type { Kind } from './kit.ts'

const kit = new Kit(process.argv[2] as Kind)
const verbs: any = new Verbs(kit)

process.on('unhandledRejection', () => {})

const control = net.createServer(socket => {
  socket.on('error', () => {})
  createInterface({ input: socket }).on('line', line => {
    const { verb, args } = JSON.parse(line)

    Promise.resolve(verbs[verb](...args)).then(
      value => socket.write(`${JSON.stringify({ value })}\n`),
      error => socket.write(`${JSON.stringify({ error: `${error.name}: ${error.message}` })}\n`)
    )
  })
})

control.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (control.address() as net.AddressInfo).port })}\n`)
})

process.stdin.on('end', () => { process.exit() })
process.stdin.resume()
