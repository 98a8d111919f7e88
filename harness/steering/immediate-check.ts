import { numbersApart } from '../../checker/system/labels.ts'
import type { Choice } from '../../checker/system/system.ts'
import type { ResolvedSystem } from '../config/config.ts'
import type { Steer } from '../timed/timing.ts'
import type { Guard } from './guard.ts'
import { interventionsAgainst, putsOff, rebootAgainst } from './interventions.ts'
import type { LiveExecution } from './live-execution.ts'
import { crash, type ViolatedProperty } from './violated.ts'

/** A step that would have violated a property, or let a program fail. */
export interface Threat {
  readonly property: ViolatedProperty
  /** Label of the step. */
  readonly label: string
  readonly atMs: number
}

/** Is told what the check does. */
export interface ImmediateCheckListener {
  /** The action was taken in place of the step. */
  onPrevented(threat: Threat, action: Steer): void
  /** Nothing could be done, or what puts the step off was done too often: it was executed. */
  onMissed(threat: Threat): void
}

export interface ImmediateCheckOptions {
  readonly listener: ImmediateCheckListener
  /** The bugs against which something is done; without it, against all violations. */
  readonly guard: Guard | undefined
  /** Whether a node may be killed and started again where nothing milder helps. */
  readonly mayReboot: boolean
}

/** How often in a row one step is put off. Once more could starve a node. */
const holdsMax = 3

/**
 * The immediate safety check (CrystalBall, section 3.3): a step after which an `always` property no longer holds, or a program has
 * failed, is taken back, and something that might have happened anyway takes its place.
 */
export class ImmediateCheck {
  readonly #live: LiveExecution
  readonly #safety: readonly string[]
  readonly #listener: ImmediateCheckListener
  readonly #guard: Guard | undefined
  readonly #mayReboot: boolean
  /** By step, without its numbers: how often it was put off since it was last executed. */
  readonly #holds = new Map<string, number>()

  constructor(live: LiveExecution, system: ResolvedSystem, { listener, guard, mayReboot }: ImmediateCheckOptions) {
    this.#live = live
    this.#guard = guard
    this.#mayReboot = mayReboot
    this.#listener = listener
    this.#safety = safetyOf(system)
  }

  /** Executes a choice, or something in its place. */
  async execute(choice: Choice, atMs: number): Promise<void> {
    const before = this.#false()
    if (this.#guard?.watches(choice.label)) await this.#live.markHere()
    await this.#live.execute(choice)
    const property = this.#newlyFalse(before)
    if (property === undefined) this.#holds.delete(nameOf(choice))
    else await this.#prevent(choice, { property, label: choice.label, atMs }, before)
    this.#live.accept()
  }

  /** Gives a function that tells whether the steps since now have violated a property. */
  lookOut(): () => boolean {
    const before = this.#false()
    return () => this.#newlyFalse(before) !== undefined
  }

  async #prevent(choice: Choice, threat: Threat, before: ReadonlySet<string>): Promise<void> {
    const isUnknown = this.#guard?.knows(choice.label, threat.property) === false
    for (const action of isUnknown ? [] : this.#actionsAgainst(choice)) {
      await this.#live.takeBack()
      const isDone = await this.#live.steer(action, threat.atMs)
      if (isDone && this.#newlyFalse(before) === undefined) {
        if (putsOff(action)) this.#holds.set(nameOf(choice), this.#holdsOf(choice) + 1)
        else this.#holds.delete(nameOf(choice))
        this.#listener.onPrevented(threat, action)
        return
      }
      // Another action, or the step itself, takes its place.
      if (!isDone) await this.#live.execute(choice)
    }
    await this.#miss(choice, threat)
  }

  /** What is tried in place of a step, in this order. */
  #actionsAgainst(choice: Choice): readonly Steer[] {
    const mayPutOff = this.#holdsOf(choice) < holdsMax
    const mild = interventionsAgainst(choice).filter(action => mayPutOff || !putsOff(action))
    const reboot = this.#mayReboot ? rebootAgainst(choice) : undefined
    return reboot ? [...mild, reboot] : mild
  }

  async #miss(choice: Choice, threat: Threat): Promise<void> {
    this.#holds.delete(nameOf(choice))
    if (this.#live.labels.at(-1) !== choice.label) {
      await this.#live.takeBack()
      await this.#live.execute(choice)
    }
    this.#listener.onMissed(threat)
  }

  #holdsOf(choice: Choice): number {
    return this.#holds.get(nameOf(choice)) ?? 0
  }

  #false(): ReadonlySet<string> {
    return new Set(this.#safety.filter(name => this.#live.values.get(name) === false))
  }

  #newlyFalse(before: ReadonlySet<string>): ViolatedProperty | undefined {
    if (this.#live.hasCrashed) return crash
    return this.#safety.find(name => this.#live.values.get(name) === false && !before.has(name))
  }
}

/** Names of the `always` properties. */
const safetyOf = ({ properties }: Pick<ResolvedSystem, 'properties'>): string[] =>
  Object.entries(properties).flatMap(([name, { kind }]) => (kind === 'always' ? [name] : []))

const nameOf = ({ kind, node, label }: Choice): string => `${kind} ${node} ${numbersApart(label).subject}`
