import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { Redis } from './redis.ts'

export interface LocalRedis {
  /** The path of its socket, which processes in every network namespace reach */
  address: string
  close(): Promise<void>
}

/** A real redis-server that keeps nothing */
export async function startRedis (): Promise<LocalRedis> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'fast-tcp-redis-'))
  const address = path.join(directory, 'redis.sock')
  const server = execa('redis-server', ['--port', '0', '--unixsocket', address, '--save', '', '--dir', directory], { reject: false, stdout: 'ignore' })
  const close = async (): Promise<void> => {
    server.kill()
    await server
    await rm(directory, { recursive: true })
  }

  for (;;) {
    try {
      const redis = new Redis(address)
      await redis.command('PING')
      redis.close()

      return { address, close }
    } catch (err) {
      if (server.exitCode != null) {
        await close()
        throw err
      }

      await delay(50)
    }
  }
}
