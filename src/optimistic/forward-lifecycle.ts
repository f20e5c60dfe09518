import { serviceCapabilities, serviceDependencies } from '@libp2p/interface'

/** libp2p starts and stops its components, and asks what each provides and needs */
const OWN = ['beforeStart', 'start', 'afterStart', 'beforeStop', 'stop', 'afterStop', serviceCapabilities, serviceDependencies]

/** Gives a decorator the lifecycle methods and the capabilities of the component that it decorates */
export function forwardLifecycle <Decorator extends object> (decorated: object, decorator: Decorator): Decorator {
  for (const key of OWN) {
    const value = Reflect.get(decorated, key)

    if (value != null) {
      Reflect.set(decorator, key, typeof value === 'function' ? value.bind(decorated) : value)
    }
  }

  return decorator
}
