/**
 * An object with its `own` properties, and those of `target` for the rest. It reads the
 * target's only when they are used: libp2p's components throw where one is missing.
 */
export function withMethods <T extends object> (target: T, own: Partial<T>): T {
  return new Proxy(target, {
    get (target, key) {
      if (key in own) {
        return Reflect.get(own, key)
      }

      const value = Reflect.get(target, key)

      // a private field cannot be read through a proxy
      return typeof value === 'function' ? value.bind(target) : value
    }
  })
}
