import type { Progress } from '../checker/check.ts'
import type { Sample } from '../checker/verdict/verdict.ts'

const countMax = 200

/** How a search went on, in few enough samples to be kept: where they become too many, every second one goes. */
export class Samples {
  list: Sample[] = []
  #every = 1
  #seen = 0

  add({ seconds, executions, states }: Progress): void {
    if (this.#seen++ % this.#every !== 0) return
    this.list.push({ seconds: Number(seconds.toFixed(3)), executions, states })
    if (this.list.length <= countMax) return
    this.list = this.list.filter((_, index) => index % 2 === 0)
    this.#every *= 2
  }
}
