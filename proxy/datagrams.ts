import type { Cuts } from './cuts.ts'
import type { Dissector } from './dissector.ts'
import { isEphemeral, type LabelOf } from './label.ts'
import type { Message } from './message.ts'
import type { WayCounts } from './way.ts'

/**
 * A datagram in flight with its ports; or an ICMP message about a datagram, with the ports of that datagram; or another
 * ICMP message, with ports 0.
 */
export interface DatagramMessage extends Message {
  readonly kind: 'datagram' | 'unreachable' | 'echo' | 'echo-reply' | 'exceeded'
  readonly sourcePort: number
  readonly destinationPort: number
  /** Whether it is of IPv6. */
  readonly isSix?: boolean
  /** Of a `datagram`: its time to live when it arrives, if that is known. */
  readonly timeToLive?: number
  /** Of `echo`, `echo-reply` and `exceeded`, and of a datagram that is for many: the whole packet as it arrives. */
  readonly packet?: Buffer
}

export type HeaderAndPayload = Pick<
  DatagramMessage,
  'kind' | 'from' | 'to' | 'sourcePort' | 'destinationPort' | 'bytes' | 'timeToLive' | 'packet' | 'end' | 'isSix'
>

/** The UDP datagrams in flight. */
export class Datagrams {
  readonly #ordinals: WayCounts
  readonly #labelOf: LabelOf
  readonly #dissector: (port: number) => Dissector | undefined
  #held: DatagramMessage[]

  constructor(
    ordinals: WayCounts,
    labelOf: LabelOf,
    dissector: (port: number) => Dissector | undefined,
    held: readonly DatagramMessage[] = [],
  ) {
    this.#ordinals = ordinals
    this.#labelOf = labelOf
    this.#dissector = dissector
    this.#held = [...held]
  }

  get held(): readonly DatagramMessage[] {
    return this.#held
  }

  hold({
    kind,
    from,
    to,
    sourcePort,
    destinationPort,
    bytes,
    timeToLive,
    packet,
    end,
    isSix,
  }: HeaderAndPayload): Message {
    // An answer goes to a random port, so the port from which it comes names the service.
    const port = [destinationPort, sourcePort].find(each => !isEphemeral(each)) ?? 0
    const ordinal = this.#ordinals.next([from, to])
    const message = {
      ordinal,
      from,
      to,
      transport: 'udp',
      kind,
      port,
      connection: 0,
      bytes,
      ...(end && { end }),
    } as const
    const meaning = kind === 'datagram' ? this.#dissector(port)?.datagram(bytes) : undefined
    const label = this.#labelOf(message, meaning)
    const arriving = {
      ...(timeToLive !== undefined && { timeToLive }),
      ...(packet && { packet }),
      ...(isSix && { isSix }),
    }
    const held = { label, sourcePort, destinationPort, ...message, ...arriving }
    this.#held.push(held)
    return held
  }

  /** Puts a copy in flight as a message of its own, and returns it. */
  duplicate(message: Message): Message {
    return this.hold(this.#held[this.#indexOf(message, 'duplicate')]!)
  }

  /** @param purpose named in the error if it is not in flight */
  take(message: Message, purpose: 'deliver' | 'drop'): DatagramMessage {
    return this.#held.splice(this.#indexOf(message, purpose), 1)[0]!
  }

  /** Loses the datagrams in flight on these directions. */
  lose(cuts: Cuts): void {
    this.#held = this.#held.filter(({ from, to, end }) => !cuts.has([from, end?.towards ?? to]))
  }

  #indexOf(message: Message, purpose: string): number {
    const index = this.#held.indexOf(message as DatagramMessage)
    if (index === -1) throw new Error(`cannot ${purpose} ${message.label}: no such datagram is in flight`)
    return index
  }
}
