import type { Stream, StreamMuxer } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/** Sends frames of yamux of our own between those of the muxer */
export interface FrameWriter {
  readonly muxer: StreamMuxer

  /** @returns whether more can be sent now */
  write(frame: Uint8Array | Uint8ArrayList): boolean
}

export function streamOf ({ streams }: StreamMuxer, streamId: number): Stream | undefined {
  const id = `${streamId}`

  return streams.find(stream => stream.id === id)
}
