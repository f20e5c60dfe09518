import { once } from 'node:events'
import net from 'node:net'
import { expect } from 'aegir/chai'
import { Semaphore } from '../../../src/dial/semaphore.ts'

describe('places for sockets that wait for an answer', () => {
  let places: Semaphore
  let granted: string

  beforeEach(() => {
    places = new Semaphore(2)
    granted = ''
  })

  const take = (name: string): () => void => places.take(() => { granted += name })

  it('are granted at once while there are any', () => {
    take('a')
    take('b')
    take('c')

    expect(granted).to.equal('ab')
  })

  it('are granted to who waited longest when one is given back, once', () => {
    const a = take('a')
    take('b')
    const c = take('c')
    take('d')
    a()
    a()
    expect(granted).to.equal('abc')

    c()
    expect(granted).to.equal('abcd')
  })

  it('are not granted to who no longer wants one', () => {
    const a = take('a')
    take('b')
    take('c')()
    a()
    take('d')

    expect(granted).to.equal('abd')
  })

  it('are taken from who has waited too long, once another needs them', async () => {
    const places = new Semaphore(1, 50)
    const { promise, resolve } = Promise.withResolvers<string>()
    const start = performance.now()

    places.take(() => {}, () => { resolve('a') })
    places.take(() => {}, () => { resolve('b') })

    expect(await promise).to.equal('a')
    expect(performance.now() - start).to.be.at.least(49)
  })

  it('are not taken from who has had its answer while the event loop was busy', async () => {
    const places = new Semaphore(1, 50)
    const server = net.createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1')
    let isEvicted = false
    const release = places.take(() => {}, () => { isEvicted = true })
    const next = new Promise<void>(resolve => { places.take(resolve) })

    socket.once('connect', release)

    for (const until = performance.now() + 100; performance.now() < until;) {
      // busy
    }

    await next
    expect(isEvicted).to.equal(false)
    socket.destroy()
    server.close()
  })
})
