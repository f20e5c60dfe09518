import { linux } from '../../src/linux/index.ts'
import { namesWithSeveralAddresses } from '../dial/fixtures/names.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { canListen } from './fixtures/availability.ts'

namesWithSeveralAddresses('fastOpen', canListen, defer => rawTransport(defer, { linux: linux({ fastOpen: true }) }))
