import type { Choice } from '../system.ts'

/**
 * By message in flight, the activity that it belongs to: that of the message whose delivery made it appear, or a new
 * one, where a timer, a call or anything else did.
 */
export class Origins {
  readonly #origins = new Map<string, number>()
  #current = 0
  #count = 0

  /** Whether an overlap joins inputs of different activities. A timer is always an activity of its own. */
  differ(first: string, second: string): boolean {
    const origin = this.#origins.get(first)
    return origin === undefined || origin !== this.#origins.get(second)
  }

  /** The activity of a message in flight; anything else begins a new one. */
  of(label: string): number | undefined {
    return this.#origins.get(label)
  }

  /** The activity that the last step was of. */
  get current(): number {
    return this.#current
  }

  /** Takes in what a step made appear. */
  arrive(enabled: readonly Choice[]): void {
    for (const { kind, label } of enabled)
      if (kind === 'deliver' && !this.#origins.has(label)) this.#origins.set(label, this.#current)
  }

  /** Takes note of the choice that is executed next. */
  leave({ label }: Choice): void {
    this.#count += 1
    this.#current = this.#origins.get(label) ?? this.#count
    this.#origins.delete(label)
  }
}
