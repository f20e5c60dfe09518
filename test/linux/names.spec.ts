import { linux } from '../../src/linux/index.ts'
import { reusePort } from '../../src/nat/index.ts'
import { namesWithSeveralAddresses } from '../dial/fixtures/names.ts'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { canListen } from './fixtures/availability.ts'

namesWithSeveralAddresses('linux()', canListen, defer => rawTransport(defer, { linux: linux() }))
namesWithSeveralAddresses('fastOpen', canListen, defer => rawTransport(defer, { linux: linux({ fastOpen: true }) }))
namesWithSeveralAddresses('linux() and reusePort', canListen && canReusePort, defer => rawTransport(defer, { linux: linux(), reusePort: reusePort() }))
namesWithSeveralAddresses('fastOpen and reusePort', canListen && canReusePort, defer => rawTransport(defer, { linux: linux({ fastOpen: true }), reusePort: reusePort() }))
