import { buildPeers } from '../lab/peers/build.ts'
import type { PeerName } from '../lab/peers/build.ts'

export type Binaries = Partial<Record<PeerName, string>>

/**
 * @throws {Error} in CI, if a toolchain is missing; elsewhere its peer is skipped
 */
export async function buildBinaries (say: (line: string) => void, build = buildPeers): Promise<Binaries> {
  const binaries: Binaries = {}

  for (const [name, result] of Object.entries(await build()) as Array<[PeerName, Awaited<ReturnType<typeof buildPeers>>[PeerName]]>) {
    if (result.status !== 'missing-toolchain') {
      binaries[name] = result.binary
    } else if (process.env.CI == null) {
      say(`SKIPPED ${name}: there is no working ${result.toolchain} on this machine`)
    } else {
      throw new Error(`There is no working ${result.toolchain} on this machine, and this is CI`)
    }
  }

  return binaries
}
