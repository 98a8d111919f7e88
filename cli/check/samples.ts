import type { Progress } from '../../checker/check.ts'
import type { Sample } from '../../checker/verdict/verdict.ts'

const countMax = 200

/** The progress of a search in a limited number of samples: if there are too many, every second one is dropped. */
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
