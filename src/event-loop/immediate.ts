/** References of our own: a test that replaces the global ones must not stop all connections of the process */
export const { setImmediate, clearImmediate } = globalThis
