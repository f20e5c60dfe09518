import { nativeStack } from '../native/native-stack.ts'

export const rival = nativeStack({
  name: 'rust',
  title: 'rust-libp2p 0.57 to itself'
})
