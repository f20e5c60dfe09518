/** A chunk takes 200 bytes besides what it holds: a peer that sends single bytes would fill memory long before a window is full */
const LEAST_BYTES = 1024

/** So many are no matter, however small */
const FEW = 1024

/** Whether so many chunks should become one. Rarely enough to cost little, since it takes more the more bytes they hold */
export function areTooMany (chunks: number, bytes: number): boolean {
  return chunks > FEW && chunks * LEAST_BYTES > bytes
}
