import type { Choice } from '../system/system.ts'

/**
 * The activity to which each message in flight belongs: the activity of the message whose delivery caused it, or a new
 * one if a timer, a call or anything else caused it.
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

  /** The activity of a message in flight; undefined for anything else, which begins a new one. */
  of(label: string): number | undefined {
    return this.#origins.get(label)
  }

  /** The activity of the last step. */
  get current(): number {
    return this.#current
  }

  /** Assigns activities to messages that the last step made appear. */
  arrive(enabled: readonly Choice[]): void {
    for (const { kind, label } of enabled)
      if (kind === 'deliver' && !this.#origins.has(label)) this.#origins.set(label, this.#current)
  }

  /** Notes the choice that is executed next. */
  leave({ label }: Choice): void {
    this.#count += 1
    this.#current = this.#origins.get(label) ?? this.#count
    this.#origins.delete(label)
  }
}
