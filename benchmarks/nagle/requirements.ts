import { spawnSync } from 'node:child_process'

/**
 * What this machine lacks to run two kernels' TCP over a link of our own and to
 * capture it, in words. Empty where nothing is missing.
 */
export function missing (): string[] {
  return [
    ...(process.platform === 'linux' ? [] : ['Linux, for network namespaces']),
    ...(process.getuid?.() === 0 ? [] : ['root, for network namespaces and captures']),
    ...(runs('ip', '-V') ? [] : ['ip (apt-get install iproute2)']),
    ...(runs('tcpdump', '--version') ? [] : ['tcpdump (apt-get install tcpdump)'])
  ]
}

function runs (file: string, ...args: string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0
}
