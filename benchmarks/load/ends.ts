import { addressOf, multiaddrOf } from '../../test/lab/peers/address.ts'
import { binaryOf } from '../../test/lab/peers/build.ts'
import { runProgram } from '../../test/lab/process/program.ts'
import { scriptPath } from '../../test/lab/script-path.ts'
import type { Arrived, Cell, Load, StackName } from './report.ts'
import type { LoadTasks } from './worker.ts'
import type { Link } from '../../test/lab/link/link.ts'
import type { PeerName } from '../../test/lab/peers/build.ts'

export interface Receiver {
  address: string
  arrived(): Promise<Arrived>
  end(): Promise<void>
}

export interface Uploader {
  load(address: string, cell: Cell, duration: number): Promise<Load>
  end(): Promise<void>
}

export function isNative (name: StackName): name is PeerName {
  return name === 'go' || name === 'rust'
}

export async function startReceiver (link: Link, name: StackName): Promise<Receiver> {
  if (isNative(name)) {
    const program = runProgram(link.commandAt('listener', [binaryOf(name), 'listen', '--host', link.listenHost]))
    const { multiaddr, peerId } = await program.nextLine()

    return {
      address: multiaddrOf(addressOf(multiaddr), peerId),
      async arrived () {
        program.write('arrived')

        return program.nextLine()
      },
      end: async () => program.end()
    }
  }

  const worker = await link.start<LoadTasks>('listener', { script: scriptPath(import.meta.url, 'worker'), args: [name], name: `${name} listener` })

  return {
    address: await worker.ask('listen', link.listenHost),
    arrived: async () => worker.ask('arrived'),
    end: async () => worker.end()
  }
}

export async function startUploader (link: Link, name: StackName): Promise<Uploader> {
  if (isNative(name)) {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()

    return {
      async load (address, { uploads }, duration) {
        const program = runProgram(link.commandAt('dialer', [binaryOf(name), 'load', address, '--uploads', `${uploads}`, '--ms', `${duration}`]))
        void ended.then(async () => program.end())

        return program.nextLine()
      },
      end: async () => { end() }
    }
  }

  const worker = await link.start<LoadTasks>('dialer', { script: scriptPath(import.meta.url, 'worker'), args: [name], name: `${name} dialer` })

  return {
    load: async (address, cell, duration) => worker.ask('load', address, cell, duration),
    end: async () => worker.end()
  }
}
