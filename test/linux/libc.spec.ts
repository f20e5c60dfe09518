import os from 'node:os'
import { expect } from 'aegir/chai'
import { libcByKoffi } from '../../src/linux/koffi.ts'
import { AF_INET, AF_INET6, IPPROTO_TCP, SOCK_CLOEXEC, SOCK_STREAM, SOL_SOCKET, SO_REUSEADDR, TCP_FASTOPEN_CONNECT, TCP_INFO } from '../../src/linux/libc.ts'
import { libcByNode } from '../../src/linux/node-ffi.ts'
import { socketAddress } from '../../src/linux/socket-address.ts'
import { socketDescriptors } from './fixtures/descriptors.ts'
import type { Libc } from '../../src/linux/libc.ts'

const { EBADF, EADDRINUSE, ENOPROTOOPT, EAFNOSUPPORT, ENOTCONN, EPIPE } = os.constants.errno

for (const [name, load] of Object.entries({ koffi: libcByKoffi, 'node:ffi': libcByNode })) {
  const libc = tryToLoad(load)

  describe(`libc by way of ${name}${libc == null ? ' (SKIPPED: it is not there)' : ''}`, () => {
    let calls: Libc

    before(function () {
      if (libc == null) {
        this.skip()
      }

      calls = libc
    })

    it('opens, binds, listens and closes', () => {
      const before = socketDescriptors()
      const fd = calls.socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)
      const { bytes } = socketAddress('127.0.0.1', 0)

      expect(fd).to.be.greaterThan(2)
      expect(socketDescriptors()).to.equal(before + 1)
      expect(calls.setOption(fd, SOL_SOCKET, SO_REUSEADDR, 1)).to.equal(0)
      expect(calls.bind(fd, bytes)).to.equal(0)
      expect(calls.listen(fd, 7)).to.equal(0)
      expect(calls.close(fd)).to.equal(0)
      expect(socketDescriptors()).to.equal(before)
    })

    it('sets and reads options', () => {
      const fd = calls.socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)
      const value = new Uint8Array(4)
      const info = new Uint8Array(8)

      expect(calls.getOption(fd, SOL_SOCKET, SO_REUSEADDR, value)).to.equal(4)
      expect(value).to.equalBytes(Uint8Array.of(0, 0, 0, 0))
      expect(calls.setOption(fd, SOL_SOCKET, SO_REUSEADDR, 1)).to.equal(0)
      expect(calls.getOption(fd, SOL_SOCKET, SO_REUSEADDR, value)).to.equal(4)
      expect(value).to.equalBytes(Uint8Array.of(1, 0, 0, 0))
      expect(calls.getOption(fd, IPPROTO_TCP, TCP_INFO, info)).to.equal(8)
      // TCP_CLOSE
      expect(info[0]).to.equal(7)
      calls.close(fd)
    })

    it('tells the number of an error', () => {
      const fd = calls.socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)
      const other = calls.socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)
      const { bytes } = socketAddress('127.0.0.1', 20_000 + process.pid % 10_000)

      expect(calls.socket(12_345, SOCK_STREAM, 0)).to.equal(-EAFNOSUPPORT)
      expect(calls.setOption(fd, IPPROTO_TCP, 12_345, 1)).to.equal(-ENOPROTOOPT)
      expect(calls.getOption(fd, IPPROTO_TCP, 12_345, new Uint8Array(4))).to.equal(-ENOPROTOOPT)
      expect(calls.send(fd, Uint8Array.of(1))).to.be.oneOf([-ENOTCONN, -EPIPE])
      expect(calls.bind(fd, bytes)).to.equal(0)
      expect(calls.listen(fd, 1)).to.equal(0)
      expect(calls.bind(other, bytes)).to.equal(-EADDRINUSE)
      expect(calls.close(fd)).to.equal(0)
      expect(calls.close(other)).to.equal(0)
      expect(calls.setOption(-1, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)).to.equal(-EBADF)
      expect(calls.listen(-1, 1)).to.equal(-EBADF)
    })
  })
}

describe('the address of a socket', () => {
  it('is that of the kernel', () => {
    expect(socketAddress('1.2.3.4', 0x1234)).to.deep.equal({ family: AF_INET, bytes: Uint8Array.of(2, 0, 0x12, 0x34, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0) })
    expect(socketAddress('2001:db8::1', 80)).to.deep.equal({
      family: AF_INET6,
      bytes: Uint8Array.of(10, 0, 0, 80, 0, 0, 0, 0, 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0)
    })
  })

  it('has the number of the zone', () => {
    expect(socketAddress('fe80::1%7', 80).bytes.subarray(24)).to.equalBytes(Uint8Array.of(7, 0, 0, 0))
    expect(socketAddress('::1%lo', 80).bytes.subarray(24)).to.equalBytes(Uint8Array.of(os.networkInterfaces().lo?.find(({ family }) => family === 'IPv6')?.scopeid ?? 1, 0, 0, 0))
  })
})

function tryToLoad (load: () => Libc): Libc | undefined {
  try {
    return load()
  } catch {
    return undefined
  }
}
