/** Calls back when the channel to the parent closes, so that this process never outlives a parent, however that one ends. */
export function endWithParent (end: () => void = () => process.exit()): void {
  // the terminal sends its signals to us too; our parent decides when we end
  process.on('SIGINT', () => {})
  process.once('disconnect', end)

  // it may have closed while we were loading
  if (!process.connected) {
    end()
  }
}
