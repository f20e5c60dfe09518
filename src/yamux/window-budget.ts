/** What the windows of a connection know of each other */
export class WindowBudget {
  /** What they may have together beyond the first one of each, in bytes. They give back what they do not need */
  left: number

  /** On how many something has arrived, and how much in a round trip, in bytes */
  streams = 0
  delivered = 0

  /** One of them has grown until it grew no more, so TCP has found the rate */
  hasStarted = false

  /** Whether no window may grow */
  readonly isFrozen: () => boolean

  constructor (left: number, isFrozen: () => boolean = () => false) {
    this.left = left
    this.isFrozen = isFrozen
  }

  /** What arrives on a stream in a round trip, in bytes */
  get mean (): number {
    return this.delivered / this.streams
  }
}
