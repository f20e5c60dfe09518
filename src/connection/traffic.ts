/** Told of the bytes that a connection moves */
export interface Traffic {
  /** These bytes were sent, and maybe more would be too much now */
  onSent(bytes: number, canSendMore: boolean): void

  /** These bytes have been received, and the layers above have dealt with them */
  onReceived(bytes: number): void
}
