import { nativeStack } from '../native/native-stack.ts'

export const rival = nativeStack({
  name: 'go',
  title: 'go-libp2p 0.51 to itself (waits for identify)'
})
