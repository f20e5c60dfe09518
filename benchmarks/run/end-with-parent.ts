/**
 * Ends this process when the channel to its parent closes, so that it never
 * outlives a parent, however that one ends.
 */
export function endWithParent (): void {
  // the terminal sends its signals to us too; it is for our parent to say when
  process.on('SIGINT', () => {})
  process.once('disconnect', () => process.exit())

  // it may have closed while we were loading
  if (!process.connected) {
    process.exit()
  }
}
