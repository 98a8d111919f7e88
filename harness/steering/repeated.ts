import { saidOf } from './filters.ts'

/** Number from which a note says how often steps with the same words were prevented. */
const timesMin = 10

/** What steering has kept from happening again and again: the system may get nowhere, although no property is violated. */
export class Preventions {
  readonly #prevented = new Map<string, { readonly label: string; readonly times: number }>()

  see(label: string): void {
    const said = saidOf(label)
    const { label: first, times } = this.#prevented.get(said) ?? { label, times: 0 }
    this.#prevented.set(said, { label: first, times: times + 1 })
  }

  get notes(): string[] {
    return [...this.#prevented.values()]
      .filter(({ times }) => times >= timesMin)
      .map(({ label, times }) => `${times} steps like ${label} were kept from happening: what needs them gets nowhere`)
  }
}
