import { exec } from '../../test/lab/link/exec.ts'
import type { Link } from '../../test/lab/link/link.ts'

/** How many addresses of the listener's host there are for peers that answer */
export const HOSTS = 25

/** Addresses of the networks behind the link. They look public to libp2p: nothing leaves the namespaces */
export const NETWORKS = {
  /** The listener's host has these */
  live: (n: number) => `45.1.1.${1 + n}`,

  /** Packets to them vanish there */
  silent: (n: number) => `45.2.${Math.floor(n / 250)}.${1 + n % 250}`,

  /** A router says that they are unreachable */
  unreachable: (n: number) => `45.3.0.${1 + n}`,

  /** No route leads to them */
  'no-route': (n: number) => `45.4.0.${1 + n}`
}

/** Gives the listener's end the addresses that answer, and those that do not */
export function addNetworks (link: Link): void {
  const listener = (...command: string[]): void => { run(link, 'listener', command) }
  const dialer = (...command: string[]): void => { run(link, 'dialer', command) }

  listener('sysctl', '-qw', 'net.ipv4.ip_forward=1')

  for (let n = 0; n < HOSTS; n++) {
    listener('ip', 'addr', 'add', `${NETWORKS.live(n)}/32`, 'dev', 'lo')
  }

  listener('ip', 'route', 'add', 'blackhole', '45.2.0.0/16')
  listener('ip', 'route', 'add', 'unreachable', '45.3.0.0/16')

  for (const network of [1, 2, 3]) {
    dialer('ip', 'route', 'add', `45.${network}.0.0/16`, 'via', link.listenHost)
  }
}

function run (link: Link, end: 'listener' | 'dialer', command: string[]): void {
  const [file, ...rest] = link.commandAt(end, command)

  exec(file, ...rest)
}
