import { createHash } from 'node:crypto'
import { labelOf, nodeOf } from '../../checker/happening/happenings.ts'
import { Undecided } from '../../checker/system/errors.ts'
import { meaningIn, numbersApart } from '../../checker/system/labels.ts'
import {
  atPosition,
  connectionOf,
  labelOfEntry,
  type NodeEntry,
  type NodeInput,
  type NodeMark,
  type NodeSight,
  type NodeSystem,
  type Overlap,
  type Sent,
  type UsesOthers,
} from '../../checker/system/node-system.ts'
import type { Checkpoint, Finding } from '../../checker/system/system.ts'
import { isEphemeral } from '../../proxy/label.ts'
import type { Message } from '../../proxy/message.ts'
import type { PlayedMessage } from '../../proxy/network.ts'
import { stateOf } from '../clients/state.ts'
import { type ClientCall, ConfigError, type GlobalState, type NodeView, NoSuchNode } from '../config/config.ts'
import { unlessInterrupted } from '../hold/turns/interruption.ts'
import type { TimedHappening } from '../timed/timing.ts'
import { carryOut, prepareStart } from './carry-out.ts'
import { aboutMessage } from './choices/about-message.ts'
import type { Option } from './choices/action.ts'
import { enabledOptions } from './choices/due.ts'
import { DrawnPorts } from './drawn-ports.ts'
import { endStep } from './end-step.ts'
import { faithfully } from './faithful.ts'
import { fingerprintOf, observedParts } from './fingerprint.ts'
import { ClusterMark, goBackTo, nodePartOf, tryToMark } from './mark.ts'
import type { Done, Stage } from './stage.ts'
import { startAll } from './start.ts'

/** One node's part of the state that properties read. */
export interface NodePart {
  readonly node: NodeView
  /** Calls of its clients. */
  readonly calls: readonly ClientCall[]
}

/** A message in the form in which its receiver, in any process, is given it. */
type Body = Omit<PlayedMessage, 'from' | 'to'>

/** State of a node's execution alone, besides its processes and its network. */
interface Own {
  /** Ports that its kernel drew. */
  readonly ports: DrawnPorts
  /** How many messages it sent on each connection. */
  readonly streams: ReadonlyMap<string, number>
  /** Number of clients' calls before its execution alone began. */
  readonly callsBefore: number
}

/** A state of a node alone, whose own processes are rewound in place. */
class AloneMark implements NodeMark {
  readonly mark: ClusterMark
  readonly own: Own

  constructor(mark: ClusterMark, own: Own) {
    this.mark = mark
    this.own = own
  }

  get isLost(): boolean {
    return this.mark.isLost
  }

  get life(): unknown {
    return this.mark.nodes[0]!.has.life
  }

  get bytes(): number {
    const { has } = this.mark.nodes[0]!
    return has.life ? has.mark.processes.bytes : 0
  }

  discard(): void {
    void this.mark.discard()
  }
}

export interface AloneOptions {
  /** Of the node's random numbers, to which the variant of an execution is added. */
  readonly seed: number
  /** Place of the node among those of the system. */
  readonly index: number
  /** Called before the node is used in another way than before; from then on nothing else uses it. */
  readonly onUse: (how: 'in place' | 'anew') => void
}

/** The real processes of one node, with the message plane around it. The search plays its peers. */
export class Alone implements NodeSystem {
  readonly #stage: Stage
  readonly #name: string
  readonly #options: AloneOptions
  #choices: readonly Option[] = []
  #ports = new DrawnPorts()
  #streams = new Map<string, number>()
  #callsBefore = 0

  /** @param stage with only this node; all others are peers */
  constructor(stage: Stage, options: AloneOptions) {
    this.#stage = stage
    this.#name = stage.nodes[0]!.name
    this.#options = options
  }

  /** @throws Unfaithful if the network was not faithful, or somebody else killed the node */
  reset(variant = 0): Promise<NodeSight> {
    this.#options.onUse('anew')
    this.#begin({ ports: new DrawnPorts(), streams: new Map(), callsBefore: 0 })
    return faithfully(this.#stage, 'the start', async () => {
      const findings = await startAll(this.#stage, variant, this.#options.seed)
      return this.#arrive({ findings, touched: this.#stage.nodes })
    })
  }

  async beginAt(whole: Checkpoint): Promise<NodeSight | undefined> {
    if (!(whole instanceof ClusterMark)) return undefined
    this.#options.onUse('in place')
    const part = nodePartOf(whole, this.#stage, this.#options.index)
    if (goBackTo(this.#stage, part) !== undefined) return undefined
    const { clients, network } = part.execution
    // Calls of before are told by one node alone.
    const callsBefore = this.#options.index === 0 ? 0 : clients.calls.length
    this.#begin({ ports: DrawnPorts.of(this.#stage.nodes[0]!), streams: new Map(), callsBefore })
    const sight = await this.#arrive({ findings: [], touched: [] }, true)
    const prefix = `${this.#name}→`
    const sent = network.ordinals.filter(([way]) => way.startsWith(prefix))
    return { ...sight, sentBefore: Object.fromEntries(sent.map(([way, count]) => [way.slice(prefix.length), count])) }
  }

  mark(): NodeMark | undefined {
    const mark = tryToMark(this.#stage)
    const own = { ports: this.#ports.copy(), streams: new Map(this.#streams), callsBefore: this.#callsBefore }
    return mark instanceof ClusterMark ? new AloneMark(mark, own) : undefined
  }

  goBack(mark: NodeMark): boolean {
    const { mark: marked, own } = mark as AloneMark
    this.#options.onUse('in place')
    if (goBackTo(this.#stage, marked) !== undefined) return false
    this.#begin({ ...own, ports: own.ports.copy() })
    this.#choices = this.#own(enabledOptions(this.#stage.moment()))
    return true
  }

  #begin({ ports, streams, callsBefore }: Own): void {
    this.#ports = ports
    this.#streams = new Map(streams)
    this.#callsBefore = callsBefore
  }

  /** @throws Unfaithful if the network was not faithful, or somebody else killed the node */
  async enter(entry: NodeEntry): Promise<NodeSight | UsesOthers | undefined> {
    const option = 'overlap' in entry ? this.#overlap(entry) : this.#optionOf(entry)
    if (option === undefined) return undefined
    const step = 'step' in entry ? entry.step : undefined
    try {
      return await faithfully(this.#stage, option.choice.label, () => this.#carryOut(option, step))
    } catch (error) {
      // A client that uses another node is not an event of a single node.
      if (error instanceof NoSuchNode) return { usesOthers: error.who }
      // Any other mistake of a client is found by the whole system, unless only an impossible state leads to it.
      if (error instanceof ConfigError) return undefined
      throw error
    }
  }

  #optionOf(input: NodeInput): Option | undefined {
    return 'deliver' in input ? this.#delivery(input.deliver) : this.#choice(input.choice)
  }

  #overlap(entry: Overlap): Option | undefined {
    // All of them can be given, or none is put in flight.
    if (!entry.overlap.every(input => this.#canTake(input))) return undefined
    const options = entry.overlap.map(input => this.#optionOf(input)!)
    const inputs = options.flatMap(({ action }) => (action.do === 'inputs' ? [action.inputs] : []))
    // The budget for it is the search's, not the node's.
    const choice = { ...options[0]!.choice, label: labelOfEntry(entry) }
    return { choice, action: { do: 'inputs', node: this.#name, inputs: inputs.flat() } }
  }

  #canTake(input: NodeInput): boolean {
    if ('choice' in input) return this.#choice(input.choice)?.action.do === 'inputs'
    const message = this.#messageOf(input.deliver)
    return message !== undefined && this.#stage.execution.network.messages.isPlayable(message)
  }

  /** @param step of the recorded run, whose time it is then */
  async #carryOut(option: Option, step: number | undefined): Promise<NodeSight> {
    const { execution } = this.#stage
    execution.schedule.push(option.choice.label)
    execution.delayMs = undefined
    execution.time?.begin(step, option.choice.due)
    await unlessInterrupted(prepareStart(this.#stage, option.action))
    return this.#arrive(carryOut(this.#stage, option))
  }

  /** @param isBefore whether what is in flight was sent, and read by the connections' readers, before it was alone */
  async #arrive(done: Done, isBefore = false): Promise<NodeSight> {
    const { options } = await endStep(this.#stage, done, [], performance.now())
    const { network } = this.#stage.execution
    const sent = network.messages
      .takeSent(this.#name)
      .map(({ message, opener }) => this.#sentOf(message, opener, isBefore))
    this.#choices = this.#own(options)
    const seen = this.#stage.snapshot()
    const state: NodePart = { node: seen.nodes[0]!, calls: seen.calls.slice(this.#callsBefore) }
    return {
      state,
      fingerprint: fingerprintOf(observedParts(this.#stage.known(seen))),
      sent,
      enabled: this.#choices.filter(option => !isShared(option)).map(({ choice }) => choice),
      resets: this.#choices.filter(isShared).map(({ choice }) => choice),
      isDown: !network.attachments.isUp(this.#name),
      findings: done.findings.map(({ kind, node, message }): Finding => ({ kind, node, message })),
    }
  }

  #own(options: readonly Option[]): Option[] {
    return options.filter(option => this.#isOwn(option))
  }

  /** Whether the node does it without a message. Network faults are represented by messages that do not arrive. */
  #isOwn({ choice, action }: Option): boolean {
    if (action.do === 'inputs') return choice.kind === 'timer'
    if (action.do === 'kill') return action.peersSee === 'reset' || this.#hasConnections
    if (action.do === 'restart') return action.fails === undefined
    return action.do === 'client' || action.do === 'disconnect'
  }

  /** Without connections, its peers cannot tell the kinds of restart apart. */
  get #hasConnections(): boolean {
    return this.#stage.execution.network.connectionStates().length > 0
  }

  #choice(label: string): Option | undefined {
    return this.#choices.find(({ choice }) => choice.label === label) ?? this.#planned(label)
  }

  /** What was planned or asked for the node in a recorded run: that it comes or goes. */
  #planned(label: string): Option | undefined {
    const { timing, execution } = this.#stage
    if (timing === undefined) return undefined
    const happening = [...timing.events, ...timing.inputs, ...execution.time!.coming()].find(
      each => comesOrGoes(each) && nodeOf(each) === this.#name && labelOf(each) === label,
    )
    const choice = { kind: 'restart', node: this.#name, label, ...numbersApart(label) } as const
    return happening && { choice, action: { do: 'happen', happening } }
  }

  #delivery(sent: Sent): Option | undefined {
    const played = this.#messageOf(sent)
    const message = played && this.#stage.execution.network.messages.play(played)
    if (message === undefined) return undefined
    const choice = { ...aboutMessage(message), kind: 'deliver', node: this.#name, label: sent.label } as const
    return { choice, action: { do: 'inputs', node: this.#name, inputs: [{ deliver: message }] } }
  }

  /** What the network is given; undefined while the node is down, or if this life of it never had the port. */
  #messageOf({ from, to, body }: Sent): PlayedMessage | undefined {
    if (!this.#stage.execution.network.attachments.isUp(this.#name)) return undefined
    return this.#playedOf({ ...(body as Body), from, to } as PlayedMessage)
  }

  /** With the port drawn by this life of the node; undefined if it has not drawn it. */
  #playedOf(message: PlayedMessage): PlayedMessage | undefined {
    const bytes = Buffer.from(message.bytes)
    if (message.transport === 'tcp') return { ...message, bytes }
    // A kernel's message about a datagram has that datagram's ports.
    const own = message.kind === 'unreachable' ? 'sourcePort' : 'destinationPort'
    if (!isEphemeral(message[own])) return { ...message, bytes }
    const drawn = this.#ports.at(message[own])
    return drawn === undefined ? undefined : { ...message, bytes, [own]: drawn }
  }

  #sentOf(message: Message, opener: string | undefined, isBefore: boolean): Sent {
    const { from, to, label, kind } = message
    const body = message.transport === 'udp' ? this.#datagramOf(message) : segmentOf(message, opener!)
    const stream = body.transport === 'tcp' ? this.#streamOf(from, to, body) : undefined
    const { bytes, ...rest } = body
    const hashed = (place: unknown) =>
      createHash('sha1')
        .update(JSON.stringify([from, to, { ...rest, meaning: undefined }, place]))
        .update(bytes)
        .digest('base64')
    const sent: Sent = {
      ...{ from, to, label, content: hashed(null), body: isBefore ? { ...body, isRead: true } : body },
      ...(kind === 'datagram' && { isDatagram: true }),
      ...(isOfOpening(kind) && { isOfOpening: true }),
    }
    return stream ? atPosition({ ...sent, alike: hashed(stream.name), stream }, stream.index) : sent
  }

  #datagramOf(message: Message): Omit<Extract<PlayedMessage, { transport: 'udp' }>, 'from' | 'to'> {
    const { kind, sourcePort, destinationPort, bytes, packet } = message as Message &
      Extract<PlayedMessage, { transport: 'udp' }>
    const own =
      kind === 'unreachable'
        ? { destinationPort: this.#ports.nameOf(destinationPort) }
        : { sourcePort: this.#ports.nameOf(sourcePort) }
    return { transport: 'udp', kind, sourcePort, destinationPort, bytes, ...(packet && { packet }), ...own }
  }

  #streamOf(from: string, to: string, { opener, number }: { opener: string; number: number }): Sent['stream'] {
    const name = `${opener} ${opener === from ? to : from} ${number} ${from}`
    const index = this.#streams.get(name) ?? 0
    this.#streams.set(name, index + 1)
    const [one, other] = opener === from ? [from, to] : [to, from]
    return { name, index, connection: connectionOf({ from: one, to: other, connection: number }) }
  }
}

/** Whether both ends of a connection notice it. */
const isShared = ({ action }: Option): boolean => action.do === 'disconnect'

const isOfOpening = (kind: Message['kind']): boolean => kind === 'open' || kind === 'accept' || kind === 'refuse'

const comesOrGoes = ({ does }: TimedHappening): boolean => does === 'join' || does === 'leave' || does === 'reboot'

/**
 * The state that properties would read of a system whose nodes are in these states.
 *
 * @param outside names of nodes that properties do not see
 */
export const joinParts = (parts: readonly NodePart[], outside: readonly string[]): GlobalState => {
  const joined = stateOf(
    parts.map(({ node }) => ({ ...node })),
    [],
    [],
    () => {
      throw new Undecided('states of single nodes are combined, whatever came before each')
    },
    outside,
  )
  return {
    ...joined,
    get calls() {
      return parts.flatMap(({ calls }) => calls)
    },
    get history(): never {
      throw new Undecided('nodes alone have no common history of operations')
    },
  }
}

const segmentOf = (
  message: Message,
  opener: string,
): Omit<Extract<PlayedMessage, { transport: 'tcp' }>, 'from' | 'to'> => {
  const { kind, port, connection, bytes, label } = message
  return {
    ...{ transport: 'tcp', kind: kind as 'data', port, opener, number: connection, bytes },
    meaning: kind === 'data' ? meaningIn(label) : undefined,
  }
}
