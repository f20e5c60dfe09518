/**
 * Runs a command that ends its processes and links when the terminal or a
 * supervisor interrupts it. A second signal ends it at once.
 */
export async function endOnSignal (main: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()

  for (const [name, number] of [['SIGHUP', 1], ['SIGINT', 2], ['SIGTERM', 15]] as const) {
    // not `once`: with no listener left the one that execa has would end us before everything is removed
    process.on(name, () => {
      if (controller.signal.aborted) {
        process.exit()
      }

      process.exitCode = 128 + number
      controller.abort()
    })
  }

  try {
    await main(controller.signal)
  } catch (err: any) {
    process.exitCode ??= 1

    if (!controller.signal.aborted) {
      throw err
    }
  }
}
