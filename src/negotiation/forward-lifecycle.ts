import { serviceCapabilities, serviceDependencies } from '@libp2p/interface'

/** libp2p starts and stops what it was given, and asks what that provides and needs */
const OWN = ['beforeStart', 'start', 'afterStart', 'beforeStop', 'stop', 'afterStop', serviceCapabilities, serviceDependencies]

/** Let the decorator of a component have the life of the one that it decorates */
export function forwardLifecycle <Decorator extends object> (decorated: object, decorator: Decorator): Decorator {
  for (const key of OWN) {
    const value = Reflect.get(decorated, key)

    if (value != null) {
      Reflect.set(decorator, key, typeof value === 'function' ? value.bind(decorated) : value)
    }
  }

  return decorator
}
