/** References of our own: a test that replaces the global ones must not stop all connections of the process. Browsers have none */
export const setImmediate: typeof globalThis.setImmediate = globalThis.setImmediate ?? ((callback: () => void) => setTimeout(callback, 0))
export const clearImmediate: typeof globalThis.clearImmediate = globalThis.clearImmediate ?? clearTimeout

/** Whether it comes at the end of the turn. Timers of browsers take milliseconds */
export const hasImmediate = globalThis.setImmediate != null
