import { expect } from 'aegir/chai'
import { slope } from '../../fault/resources/slope.ts'

const minutes = Array.from({ length: 50 }, (_, minute) => minute)

/** With noise that comes and goes */
function gained (bytesAt: (minute: number) => number): number {
  return slope(minutes.map(minute => ({ ms: minute * 60_000, bytes: bytesAt(minute) + minute % 3 * 1_000 }))) * 60_000
}

describe('faults: the slope of the soak', () => {
  it('is that of a leak, through noise', () => {
    expect(gained(minute => 5_000 * minute)).to.be.closeTo(5_000, 100)
  })

  it('is nothing where nothing leaks', () => {
    expect(gained(() => 1e6)).to.be.closeTo(0, 100)
  })

  it('is nothing where there is one step near the end', () => {
    expect(gained(minute => minute < 45 ? 1e6 : 5e6)).to.be.closeTo(0, 100)
  })

  it('sees a leak of many steps', () => {
    expect(gained(minute => Math.floor(minute / 10) * 50_000)).to.be.closeTo(5_000, 1_500)
  })
})
