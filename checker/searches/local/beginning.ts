import type { NodeTask } from '../../cells/task.ts'
import { UsageError } from '../../system/errors.ts'
import { isOfNetwork, readLabel } from '../../system/labels.ts'
import { saidBy } from '../../system/likeness.ts'
import type { NodeInput, NodeSight, Sent } from '../../system/node-system.ts'
import type { Before } from './order.ts'
import { afterInput, afterSending, type Beginning } from './space.ts'

/** A node on its way to the state in which a local search begins. */
interface Member {
  readonly name: string
  readonly inputs: NodeInput[]
  sight: NodeSight | undefined
  received: ReadonlySet<string>
  streams: ReadonlyMap<string, number>
  sentOn: ReadonlyMap<string, number>
}

/**
 * How nodes come to the state in which the search begins. After a schedule they are the parts of a mark of the whole system,
 * which is executed once. If that cannot be marked, each node executes its part of the schedule alone. Labels are the same as in
 * the whole system, so it is known who sent each message. It hands out one task at a time.
 */
export class Begin {
  #members: readonly Member[]
  /** The schedule to the mark of which they are parts; empty without. */
  after: readonly string[]
  readonly #labels: readonly string[]
  #done = 0
  #inFlight: Sent[] = []
  /** Nodes that cannot take the next step. */
  readonly #refusing = new Set<Member>()
  readonly #counts = new Map<string, number>()
  #asked: { readonly member: Member; readonly input: NodeInput | undefined } | undefined

  /** @param labels the whole system's schedule */
  constructor(names: readonly string[], labels: readonly string[]) {
    this.#labels = labels
    this.after = labels
    this.#members = names.map(newMember)
  }

  get isDone(): boolean {
    const isThere = this.after.length > 0 || this.#done === this.#labels.length
    return this.#asked === undefined && isThere && this.#members.every(({ sight }) => sight)
  }

  /** Messages in flight at that state, and how many were sent. */
  get before(): Before {
    return { inFlight: this.#inFlight, counts: this.#counts }
  }

  get nodes(): Beginning[] {
    return this.#members.map(({ sight, received, streams, sentOn }) => ({ sight: sight!, received, streams, sentOn }))
  }

  /** Inputs that brought a node there. */
  inputsOf(node: number): readonly NodeInput[] {
    return this.#members[node]!.inputs
  }

  /** @throws UsageError for a step that no node can take alone */
  next(): NodeTask | undefined {
    if (this.#asked || this.isDone) return undefined
    const waiting = this.#members.find(({ sight }) => sight === undefined)
    this.#asked = waiting ? { member: waiting, input: undefined } : this.#nextStep()
    if (this.#asked === undefined) return this.next()
    const { member, input } = this.#asked
    const inputs = input ? [...member.inputs, input] : []
    return { start: { at: 'node', node: member.name, after: this.after, inputs } }
  }

  /**
   * Learns a task's outcome. `sight` is undefined if the node could not begin, or not take the input, for example because it
   * is another node's client.
   *
   * @throws UsageError if no node can begin
   */
  learn(sight: NodeSight | undefined): void {
    const { member, input } = this.#asked!
    this.#asked = undefined
    if (sight === undefined && input === undefined) {
      if (this.after.length === 0) throw new UsageError(cannotBegin)
      this.#beginAlone()
      return
    }
    if (sight === undefined) {
      this.#refusing.add(member)
      return
    }
    this.#refusing.clear()
    if (input) {
      member.inputs.push(input)
      this.#done += 1
      member.streams = afterInput(member.streams, input)
      if ('deliver' in input) {
        member.received = new Set([...member.received, input.deliver.content])
        this.#inFlight = this.#inFlight.filter(message => message !== input.deliver)
      }
    }
    member.sight = sight
    member.sentOn = afterSending(member.sentOn, sight.sent)
    for (const [to, count] of Object.entries(sight.sentBefore ?? {})) this.#counts.set(`${member.name}→${to}`, count)
    // They are counted already.
    const isCounted = sight.sentBefore !== undefined
    for (const message of sight.sent) {
      const way = `${message.from}→${message.to}`
      if (!isCounted) this.#counts.set(way, (this.#counts.get(way) ?? 0) + 1)
      this.#inFlight.push(message)
    }
  }

  /** The state of the whole system cannot be marked. */
  #beginAlone(): void {
    this.after = []
    this.#inFlight = []
    this.#counts.clear()
    this.#members = this.#members.map(({ name }) => newMember(name))
  }

  /**
   * The message with this label, or one with another number: what a node sends to a restarted node takes no number in
   * the whole system.
   */
  #messageOf(label: string): Sent | undefined {
    const said = saidBy(readLabel(label))
    const alike = this.#inFlight.filter(each => saidBy(readLabel(each.label)) === said)
    return alike.find(each => each.label === label) ?? alike[0]
  }

  /** Undefined after a step that concerns no node, such as a lost message or a cut. */
  #nextStep(): { readonly member: Member; readonly input: NodeInput } | undefined {
    const label = this.#labels[this.#done]!
    const step = this.#done + 1
    const message = this.#messageOf(label)
    const receiver = message && this.#members.find(({ name }) => name === message.to)
    if (message && receiver && !this.#refusing.has(receiver))
      return { member: receiver, input: { deliver: message, step } }
    const dropped = this.#inFlight.find(each => label === `drop ${each.label}`)
    if (dropped || isOfNetwork(label)) {
      this.#inFlight = this.#inFlight.filter(each => each !== dropped)
      this.#done += 1
      return undefined
    }
    const able = this.#members.filter(member => !this.#refusing.has(member))
    const { node } = readLabel(label)
    const owner =
      able.find(({ sight }) => sight!.enabled.some(each => each.label === label)) ??
      able.find(({ name }) => name === node)
    if (owner) return { member: owner, input: { choice: label, step } }
    throw new UsageError(
      `from: a local search executes each node alone, and none of them can take step ${step}, "${label}"`,
    )
  }
}

const cannotBegin =
  'a local search executes each node alone, but nodes wait for each other in the start, and its end cannot be marked'

const newMember = (name: string): Member => ({
  ...{ name, inputs: [], sight: undefined, received: new Set<string>() },
  ...{ streams: new Map<string, number>(), sentOn: new Map<string, number>() },
})
