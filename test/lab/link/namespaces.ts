import { readFileSync, readdirSync } from 'node:fs'
import { exec, tryExec } from './exec.ts'

const PREFIX = 'fasttcp'
const OWNED_NAME = new RegExp(`\\b${PREFIX}(\\d+)[ab]\\b`)

/**
 * Names for a namespace, and the device in it, at each end. They carry the id of the process that owns them, so that a later one can tell
 * that they are stale. An interface name has at most 15 characters.
 */
export function endNames (pid: number): { listener: string, dialer: string } {
  return {
    listener: `${PREFIX}${pid}a`,
    dialer: `${PREFIX}${pid}b`
  }
}

/** The id of the process that owns what has this name (or command line). */
export function ownerOf (name: string): number | undefined {
  const match = OWNED_NAME.exec(name)

  return match == null ? undefined : Number(match[1])
}

export function addNamespace (name: string): void {
  exec('ip', 'netns', 'add', name)
  exec('ip', '-n', name, 'link', 'set', 'lo', 'up')
  // who asks for TCP Fast Open gets it, at both ends
  exec('ip', 'netns', 'exec', name, 'sysctl', '-qw', 'net.ipv4.tcp_fastopen=3')
}

/** Puts a device into a namespace and gives it its address. */
export function addDevice (namespace: string, device: string, address: string): void {
  exec('ip', 'link', 'set', device, 'netns', namespace)
  exec('ip', '-n', namespace, 'addr', 'add', address, 'dev', device)
  exec('ip', '-n', namespace, 'link', 'set', device, 'up')
}

/** Sends to an address with this congestion control, also if the system does not allow programs to choose it */
export function setCongestion (namespace: string, device: string, address: string, congestion: string): void {
  exec('ip', '-n', namespace, 'route', 'replace', address, 'dev', device, 'congctl', congestion)
}

/**
 * Ends what runs in a namespace and removes it with the device in it that has its name, and the other end of that, wherever it is: the
 * kernel would do so some time later.
 */
export function removeNamespace (name: string): void {
  tryExec('ip', 'netns', 'pids', name)
    .split('\n')
    .filter(line => line !== '')
    .forEach(pid => { kill(Number(pid)) })
  tryExec('ip', '-n', name, 'link', 'del', name)
  tryExec('ip', 'netns', 'del', name)
}

/** Removes the namespaces and helper processes of owners that were killed before they could do it. */
export function removeStale (): void {
  namespaceNames().filter(isStale).forEach(removeNamespace)

  // a TUN device goes with the process that holds it open
  readdirSync('/proc').map(Number).filter(Number.isInteger)
    .filter(pid => commandLine(pid).startsWith('socat') && isStale(commandLine(pid)))
    .forEach(kill)
}

export function namespaceNames (): string[] {
  return tryExec('ip', 'netns', 'list').split('\n').map(line => line.split(' ')[0])
}

function isStale (name: string): boolean {
  const owner = ownerOf(name)

  return owner != null && !isKeeper(owner)
}

/** The id of a keeper that has ended may have gone to another program since */
export function isKeeper (pid: number): boolean {
  return commandLine(pid).includes('keeper')
}

function commandLine (pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

function kill (pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has ended by itself
  }
}
