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

  /** No route leads to them */
  'no-route': (n: number) => `45.4.0.${1 + n}`
}

/** Gives the listener's end the addresses that answer, and those that do not */
export function addNetworks (link: Link): void {
  runAt(link, 'listener', 'sysctl', '-qw', 'net.ipv4.ip_forward=1')

  for (let n = 0; n < HOSTS; n++) {
    runAt(link, 'listener', 'ip', 'addr', 'add', `${NETWORKS.live(n)}/32`, 'dev', 'lo')
  }

  runAt(link, 'listener', 'ip', 'route', 'add', 'blackhole', '45.2.0.0/16')

  for (const network of [1, 2]) {
    runAt(link, 'dialer', 'ip', 'route', 'add', `45.${network}.0.0/16`, 'via', link.listenHost)
  }
}

/** @returns what the command prints */
export function runAt (link: Link, end: 'listener' | 'dialer', ...command: string[]): string {
  const [file, ...rest] = link.commandAt(end, command)

  return exec(file, ...rest)
}

/** A counter in the text of /proc/net/snmp or /proc/net/netstat: a line of names, and one of values */
export function counterIn (text: string, group: string, name: string): number {
  const [names, values] = text.split('\n').filter(line => line.startsWith(`${group}:`)).map(line => line.split(' '))

  return Number(values[names.indexOf(name)])
}

/** How many connects a network namespace has begun, by its /proc/net/snmp */
export function activeOpens (snmp: string): number {
  return counterIn(snmp, 'Tcp', 'ActiveOpens')
}
