/**
 * An object that has these properties and, for the rest, those of another one. It reads the
 * other one's only when it is asked: libp2p's components throw where one is missing.
 */
export function withMethods <T extends object> (target: T, own: Partial<T>): T {
  return new Proxy(target, {
    get (target, key) {
      if (key in own) {
        return Reflect.get(own, key)
      }

      const value = Reflect.get(target, key)

      // private fields know no proxy
      return typeof value === 'function' ? value.bind(target) : value
    }
  })
}
