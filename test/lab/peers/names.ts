/** What tables and charts call the contenders, which their versions tell more of */
export const NAMES: Record<string, string> = {
  net: 'raw net',
  official: 'official',
  transport: 'our transport',
  ours: 'ours',
  'no-credit': 'ours, no credit',
  'no-window': 'ours, no send window',
  linux: 'ours, linux()',
  hasty: 'ours, hasty close',
  go: 'go-libp2p',
  rust: 'rust-libp2p',
  'tcp-conn': 'tcp-conn (Go), published'
}
