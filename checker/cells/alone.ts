import { hash } from 'node:crypto'
import type { Budget } from '../system/budget.ts'
import { Diverged } from '../system/errors.ts'
import {
  keyOf,
  labelOfEntry,
  type NodeEntry,
  type NodeSight,
  type NodeSystem,
  type Nodes,
} from '../system/node-system.ts'
import type { Checkpoint } from '../system/system.ts'
import { NodeMarks } from './node-marks.ts'
import type { NodeOutcome, NodeTask } from './task.ts'

/** A node alone, by what it took since its execution began. */
interface Present {
  /** Of each state on its way, the first one included. */
  readonly keys: string[]
  sight: NodeSight
}

/** Marks the state of the whole system after a schedule; undefined if that is not possible. */
export type MarkWhole = (labels: readonly string[], variant: number) => Promise<Checkpoint | undefined>

/**
 * Executes nodes alone, each by processes of its own. It goes on from the nearest state on the way to a task's inputs: the one
 * that the node has now, or a marked one. Otherwise the node begins again.
 */
export class Solo {
  readonly #nodes: Pick<Nodes<never>, 'alone' | 'startTogether'>
  readonly #markWhole: MarkWhole
  readonly #systems = new Map<string, NodeSystem>()
  readonly #present = new Map<string, Present>()
  readonly #marks = new NodeMarks()
  /** Of the states in which nodes begin, those that cannot be marked. */
  readonly #unmarked = new Set<string>()
  /** By variant, whether nodes wait for each other in the start. */
  readonly #together = new Map<number, boolean>()
  /** The state of the whole system in which nodes begin, unless with their start. */
  #whole: { readonly key: string; readonly checkpoint: Checkpoint | undefined } | undefined

  /** @param markWhole absent if that is not possible */
  constructor(nodes: Pick<Nodes<never>, 'alone' | 'startTogether'>, markWhole: MarkWhole = async () => undefined) {
    this.#nodes = nodes
    this.#markWhole = markWhole
  }

  /** Must be called after the whole system was used: no node is where it was. What was marked is still there. */
  forget(): void {
    this.#present.clear()
  }

  /** Frees all that was marked. */
  async end(): Promise<void> {
    this.forget()
    this.#marks.clear()
    await this.#whole?.checkpoint?.discard()
    this.#whole = undefined
  }

  /**
   * @throws BudgetSpent
   *
   * @throws Diverged if an input before the last one is refused, although it was taken before
   */
  async perform(task: NodeTask, variant: number, budget: Budget): Promise<NodeOutcome> {
    const { node, after, inputs } = task.start
    const keys = keysOf(node, beginOf(after, variant), inputs)
    const outcome = await this.#perform(task, variant, budget, keys)
    return { ...outcome, ...(this.#unmarked.has(keys[0]!) && { beginsAnew: true }) }
  }

  async #perform(task: NodeTask, variant: number, budget: Budget, keys: readonly string[]): Promise<NodeOutcome> {
    const { node: name, after, inputs } = task.start
    budget.check()
    const present = this.#onTheWay(name, keys) ?? (await this.#begin(name, after, variant, keys[0]!))
    this.#present.delete(name)
    if (present === undefined) return { last: undefined }
    const node = this.#systemOf(name)
    const taken = present.keys.length - 1
    for (const [index, input] of inputs.slice(taken).entries()) {
      budget.check()
      const isLast = taken + index === inputs.length - 1
      // Other inputs will be asked for in the state before the last one; but hardly where a message arrives on the way.
      const isKept = isLast && (index > 0 || !('deliver' in input))
      if (isKept && !this.#mark(name, present)) return this.#perform(task, variant, budget, keys)
      const sight = await node.enter(input)
      if (sight === undefined || 'usesOthers' in sight) {
        if (isLast) {
          // A client that used another node may have changed this one before.
          if (sight === undefined && 'deliver' in input) this.#present.set(name, present)
          return { last: undefined, ...sight }
        }
        throw new Diverged(
          taken + index + 1,
          labelOfEntry(input),
          present.sight.enabled.map(({ label }) => label),
        )
      }
      present.keys.push(keys[taken + index + 1]!)
      present.sight = sight
    }
    if (present.sight.findings.length === 0) this.#present.set(name, present)
    return { last: present.sight }
  }

  #systemOf(name: string): NodeSystem {
    const known = this.#systems.get(name) ?? this.#nodes.alone(name)
    this.#systems.set(name, known)
    return known
  }

  /** Marks a state that looks like none that was marked. Returns false if the node is lost by that. */
  #mark(name: string, { keys, sight }: Present): boolean {
    const node = this.#systemOf(name)
    const key = keys.at(-1)!
    const looks = `${name} ${sight.fingerprint}`
    if (!node.mark || this.#marks.has(key) || this.#marks.hasSeen(looks)) return true
    const mark = node.mark()
    if (mark) this.#marks.add(key, name, looks, { mark, sight })
    else this.#marks.cannotBe(looks)
    return mark !== undefined
  }

  #onTheWay(name: string, keys: readonly string[]): Present | undefined {
    const present = this.#present.get(name)
    const steps = present && keys[present.keys.length - 1] === present.keys.at(-1) ? present.keys.length - 1 : -1
    for (let at = keys.length - 1; at > steps; at--) {
      const marked = this.#marks.get(keys[at]!)
      if (marked === undefined) continue
      if (present) this.#mark(name, present)
      if (this.#systemOf(name).goBack!(marked.mark)) return { keys: keys.slice(0, at + 1), sight: marked.sight }
      this.#marks.delete(keys[at]!)
      this.#present.delete(name)
      return this.#onTheWay(name, keys)
    }
    return steps >= 0 ? present : undefined
  }

  async #begin(name: string, after: readonly string[], variant: number, key: string): Promise<Present | undefined> {
    this.#present.delete(name)
    const isWhole = after.length > 0 || (await this.#startTogether(variant))
    const sight = isWhole ? await this.#beginAfter(name, after, variant) : await this.#systemOf(name).reset(variant)
    if (sight === undefined) return undefined
    const present: Present = { keys: [key], sight }
    if (sight.findings.length > 0 || this.#mark(name, present)) return present
    this.#unmarked.add(key)
    return this.#begin(name, after, variant, key)
  }

  async #startTogether(variant: number): Promise<boolean> {
    const known = this.#together.get(variant)
    if (known !== undefined || this.#nodes.startTogether === undefined) return known ?? false
    this.forget()
    const together = await this.#nodes.startTogether(variant)
    this.#together.set(variant, together)
    return together
  }

  async #beginAfter(name: string, after: readonly string[], variant: number): Promise<NodeSight | undefined> {
    const node = this.#systemOf(name)
    const key = beginOf(after, variant)
    if (this.#whole?.key !== key || this.#whole.checkpoint?.isLost) {
      await this.end()
      this.#whole = { key, checkpoint: await this.#markWhole(after, variant) }
    }
    const { checkpoint } = this.#whole
    return checkpoint && node.beginAt?.(checkpoint)
  }
}

const beginOf = (after: readonly string[], variant: number): string => `${variant} ${hash('sha1', after.join('\n'))}`

/** Names of the states on a way, the first one included. */
const keysOf = (name: string, begin: string, inputs: readonly NodeEntry[]): string[] => {
  const keys = [`${name} ${begin}`]
  for (const input of inputs) keys.push(hash('sha1', `${keys.at(-1)} ${keyOf(input)}`, 'base64'))
  return keys
}
