import { binaryOf, buildPeers } from '../lab/peers/build.ts'
import { say } from '../lab/process/say.ts'
import type { BuildResult, PeerName, ProgramName } from '../lab/peers/build.ts'

export type Binaries = Partial<Record<PeerName, string>>

/**
 * Builds the peers, and says where one of their programs is.
 *
 * @throws {Error} in CI, if a toolchain is missing; elsewhere its peer is skipped
 */
export async function buildBinaries (program: ProgramName = 'interop'): Promise<Binaries> {
  const binaries: Binaries = {}

  for (const [name, result] of Object.entries(await buildPeers()) as Array<[PeerName, BuildResult]>) {
    if (result.status !== 'missing-toolchain') {
      binaries[name] = binaryOf(name, program)
    } else if (process.env.CI == null) {
      say(`SKIPPED ${name}: there is no working ${result.toolchain} on this machine`)
    } else {
      throw new Error(`There is no working ${result.toolchain} on this machine, and this is CI`)
    }
  }

  return binaries
}
