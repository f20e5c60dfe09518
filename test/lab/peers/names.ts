/** What tables and charts call the contenders, which their versions tell more of */
export const NAMES: Record<string, string> = {
  floor: 'raw TCP, 1 byte',
  net: 'raw net',
  v9: 'libp2p 1.9, tcp 9',
  v10: 'libp2p 2.8, tcp 10',
  recipe: 'recipe of #3032',
  official: 'official',
  transport: 'our transport',
  ours: 'ours',
  keyed: 'ours, keyed',
  'no-window': 'ours, no send window',
  linux: 'ours, linux()',
  'fast-open': 'ours, Fast Open',
  hasty: 'ours, hasty close',
  go: 'go-libp2p',
  rust: 'rust-libp2p'
}
