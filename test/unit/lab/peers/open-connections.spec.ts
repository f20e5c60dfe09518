import { expect } from 'aegir/chai'
import { OpenConnections, allCalledBack } from '../../../lab/peers/open-connections.ts'

interface Connection {
  open: boolean
}

describe('the open connections of a benchmark', () => {
  it('lists those that are open of all that were added', () => {
    const connections = Array.from({ length: 200 }, (_, i): Connection => ({ open: i % 2 === 0 }))
    const open = new OpenConnections<Connection>(connection => connection.open)
    connections.forEach(connection => { open.add(connection) })

    expect(open.list()).to.deep.equal(connections.filter(connection => connection.open))

    connections[0].open = false

    expect(open.count()).to.equal(99)
  })

  it('tells when all have closed', async () => {
    const callbacks: Array<() => void> = []
    let isOver = false

    await allCalledBack([], () => {})
    const over = allCalledBack([1, 2], (_, callback) => { callbacks.push(callback) }).then(() => { isOver = true })

    callbacks[0]()
    await new Promise(resolve => setImmediate(resolve))
    expect(isOver).to.equal(false)

    callbacks[1]()
    await over
  })

  it('does not keep those that are closed, also if nobody asks', () => {
    let asked = 0
    const open = new OpenConnections<Connection>(connection => {
      asked++

      return connection.open
    })

    for (let i = 0; i < 10_000; i++) {
      const connection = { open: true }
      open.add(connection)
      connection.open = false
    }

    asked = 0

    expect(open.count()).to.equal(0)
    expect(asked, 'were kept').to.be.at.most(65)
  })
})
