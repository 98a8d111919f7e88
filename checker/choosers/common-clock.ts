import type { Random } from '../system/random.ts'
import type { Choice } from '../system/system.ts'
import { firstBy } from './chooser.ts'

/** Of a timer that does not say when it is due. */
const usualMs = 1_000

/**
 * When timers would be due if all nodes shared one clock. A node's own clock moves only when one of its timers fires,
 * so a timer set in between is counted from now. A timer that is reset to the same delay, for example while waiting for
 * the next heartbeat, looks just like one that keeps running. So which nodes reset theirs is an assumption.
 */
export class CommonClock {
  readonly #random: Random
  readonly #settingShare: number
  /** By node: whether it is assumed to reset its timers. */
  readonly #isSetting = new Map<string, boolean>()
  /** Due times by label. */
  #due = new Map<string, number>()
  /** The node that took the last input, if it is assumed to reset its timers. */
  #set: string | undefined
  #nowMs = 0

  /** @param settingShare of the nodes that are assumed to reset their timers with each input, from 0 to 1 */
  constructor(random: Random, settingShare: number) {
    this.#random = random
    this.#settingShare = settingShare
  }

  get nowMs(): number {
    return this.#nowMs
  }

  see(enabled: readonly Choice[]): void {
    const due = new Map<string, number>()
    for (const { kind, node, label, afterMs = usualMs } of enabled) {
      if (kind !== 'timer') continue
      const known = node === this.#set ? undefined : this.#due.get(label)
      due.set(label, known ?? this.#nowMs + afterMs * (1 + this.#random.next() / 20))
    }
    this.#due = due
  }

  first(enabled: readonly Choice[]): Choice | undefined {
    return firstBy(
      enabled.filter(({ kind }) => kind === 'timer'),
      choice => this.dueMs(choice),
    )
  }

  /** When a timer is due. It is among the choices that were last seen. */
  dueMs({ label }: Choice): number {
    return this.#due.get(label)!
  }

  /** Time has come to this. */
  reach(ms: number): void {
    this.#nowMs = Math.max(this.#nowMs, ms)
  }

  leave({ kind, node, label }: Choice): void {
    this.#set = kind !== 'timer' && this.#setsAnew(node) ? node : undefined
    if (kind !== 'timer') return
    this.reach(this.#due.get(label)!)
    this.#due.delete(label)
  }

  #setsAnew(node: string): boolean {
    if (!this.#isSetting.has(node)) this.#isSetting.set(node, this.#random.next() < this.#settingShare)
    return this.#isSetting.get(node)!
  }
}
