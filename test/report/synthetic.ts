import { Random } from '../../checker/system/random.ts'
import type { ChoiceKind } from '../../checker/system/system.ts'
import { enabledAfter, enabledChanges } from '../../checker/trace/enabled.ts'
import type { RecordedChoice, RecordedMessage, RecordedStep, Trace } from '../../checker/trace/trace.ts'

const nodes = ['n1', 'n2', 'n3', 'n4']

/** A trace as a long run with every kind of choice would leave it: what is sent is delivered, or lost, later. */
export const syntheticTrace = (length: number): Trace => {
  const run = new Run()
  return {
    header: {
      ...{
        system: 'synthetic',
        versions: { lastnail: '0.1.0' },
        config: { path: '', sha256: '' },
        seed: 1,
        clocksStart: '2026-01-01T00:00:00Z',
        options: null,
      },
      nodes: nodes.map((name, index) => ({
        ...{ name, command: ['node', 'node.js'], env: {}, image: '', address: `10.77.0.${index + 2}`, program: '' },
      })),
      properties: [{ name: 'quiet', kind: 'always' }],
      faults: {},
    },
    steps: Array.from({ length: length + 1 }, (_, index) => run.step(index, index === length)),
    end: {
      verdict: {
        verdict: 'violated',
        kind: 'safety',
        property: 'quiet',
        message: `quiet does not hold after step ${length}`,
      },
    },
    torn: undefined,
  }
}

class Run {
  readonly #random = new Random(1)
  readonly #sent = new Map<string, number>()
  readonly #inFlight: RecordedMessage[] = []
  readonly #down = new Set<string>()
  #isCut = false
  #enabled: readonly RecordedChoice[] = []

  step(index: number, isLast: boolean): RecordedStep {
    const choice = index === 0 ? undefined : this.#choose()
    const lost = choice?.kind === 'reset' ? this.#inFlight.splice(0, 2).map(({ label }) => label) : []
    const isSending = choice === undefined || choice.kind === 'timer' || (choice.kind === 'deliver' && index % 2 === 0)
    const messages = isSending ? this.#send(choice?.node ?? 'n1', index) : []
    const changes = enabledChanges(this.#enabled, this.#inFlight.map(deliverOf))
    this.#enabled = enabledAfter(this.#enabled, changes)
    const node = nodes.includes(choice?.node ?? '') ? choice!.node : 'n1'
    return {
      ...{
        index,
        choice,
        messages,
        lost,
        durationUs: 1,
        findings: [],
        operations: [],
        fingerprint: undefined,
        ...changes,
      },
      clocks: [{ node, elapsedMs: index }],
      timers: nodes.map(node => ({ node, deadlinesMs: [100] })),
      states: [{ node, state: { self: node, round: index, peers: nodes, log: [index, index * 7] } }],
      outputs: [{ node, stream: 'stdout', bytes: Buffer.from(`${node} is in round ${index}\n`) }],
      properties: index === 0 || isLast ? [{ name: 'quiet', holds: !isLast }] : [],
    }
  }

  #choose(): RecordedChoice {
    const kind = this.#kind()
    const node = nodes[this.#random.below(nodes.length)]!
    if (kind === 'deliver') return deliverOf(this.#take())
    if (kind === 'drop') {
      const { to, label } = this.#take()
      return { kind, node: to, label: `drop ${label}` }
    }
    if (kind === 'overlap') {
      const joins = [this.#take().label, this.#take().label]
      return { kind, node, label: `overlap ${joins.join(' & ')}`, joins }
    }
    if (kind === 'crash') this.#down.add(node)
    if (kind === 'restart') {
      const [down] = this.#down
      this.#down.delete(down!)
      return { kind, node: down!, label: `restart ${down}` }
    }
    if (kind === 'partition' || kind === 'heal') this.#isCut = kind === 'partition'
    const labels: Partial<Record<ChoiceKind, string>> = {
      timer: `${node} timer +100ms`,
      client: 'client ann',
      heal: 'heal',
    }
    return { kind, node: kind === 'client' ? 'client ann' : node, label: labels[kind] ?? `${kind} ${node}` }
  }

  #kind(): ChoiceKind {
    const draw = this.#random.below(100)
    if (draw === 0) return this.#isCut ? 'heal' : 'partition'
    if (draw === 1) return this.#down.size > 0 ? 'restart' : 'crash'
    if (draw === 2) return 'reset'
    if (draw === 3) return 'client'
    if (this.#inFlight.length < 4 || draw < 25) return 'timer'
    return draw === 25 ? 'drop' : draw < 30 ? 'overlap' : 'deliver'
  }

  #take(): RecordedMessage {
    return this.#inFlight.splice(this.#random.below(this.#inFlight.length), 1)[0]!
  }

  #send(from: string, index: number): RecordedMessage[] {
    const to = nodes[(nodes.indexOf(from) + 1 + this.#random.below(3)) % nodes.length]!
    const ordinal = (this.#sent.get(from + to) ?? 0) + 1
    this.#sent.set(from + to, ordinal)
    const bytes = Buffer.from(JSON.stringify({ type: 'gossip', round: index }))
    const message = {
      from,
      to,
      ordinal,
      label: `${from}→${to} #${ordinal} gossip ${index}`,
      kind: 'datagram',
      bytes,
      length: bytes.length,
    }
    this.#inFlight.push(message)
    return [message]
  }
}

const deliverOf = ({ to, label }: RecordedMessage): RecordedChoice => ({ kind: 'deliver', node: to, label })
