import { parseAddress } from '../../linux/address.ts'
import type { PacketLink } from '../../linux/link.ts'
import { decode, encodeSegment, flag, type Segment } from '../../proxy/packets/packet.ts'

/** Small on purpose: data are cut, and windows close. */
const segmentLengthMax = 1000
const capacity = 5000
const scale = 3
/** Near the end, so that sequence numbers wrap. */
const firstSequence = 0xffff_f800

/** The TCP of a node's kernel, in memory: small and strict. It throws where a peer breaks the protocol. */
export class MemoryKernel implements PacketLink {
  readonly address: number
  readonly accepted: MemorySocket[] = []
  readonly #sent: Buffer[] = []
  readonly #sockets = new Map<string, MemorySocket>()
  readonly #listening = new Set<number>()
  #nextPort = 40_000

  constructor(address: string) {
    this.address = parseAddress(address)
  }

  listen(port: number): void {
    this.#listening.add(port)
  }

  connect(address: string, port: number): MemorySocket {
    const socket = new MemorySocket(this, this.#nextPort++, parseAddress(address), port)
    this.#sockets.set(socket.key, socket)
    socket.transmit(flag.SYN)
    return socket
  }

  send(segment: Omit<Segment, 'kind' | 'source'>): void {
    const bytes = Buffer.alloc(segmentLengthMax + 60)
    this.#sent.push(bytes.subarray(0, encodeSegment(bytes, { kind: 'tcp', source: this.address, ...segment })))
  }

  forget(socket: MemorySocket): void {
    this.#sockets.delete(socket.key)
  }

  read(into: Buffer): number {
    return this.#sent.shift()?.copy(into) ?? 0
  }

  write(packet: Buffer, length: number): void {
    const segment = decode(packet, length)
    if (segment.kind !== 'tcp') throw new Error(`expected TCP, found ${segment.kind}`)
    if (segment.destination !== this.address) throw new Error('the packet is for another host')
    const key = `${segment.destinationPort} ${segment.source} ${segment.sourcePort}`
    const socket = this.#sockets.get(key)
    if (socket) socket.receive(segment)
    else if (segment.flags & flag.SYN && this.#listening.has(segment.destinationPort)) this.#accept(segment)
    else if (!(segment.flags & flag.RST)) this.#refuse(segment)
  }

  close(): void {
    this.#sockets.clear()
  }

  #accept(syn: Segment): void {
    const socket = new MemorySocket(this, syn.destinationPort, syn.source, syn.sourcePort)
    this.#sockets.set(socket.key, socket)
    this.accepted.push(socket)
    socket.meet(syn)
    socket.transmit(flag.SYN | flag.ACK)
  }

  #refuse({ destinationPort, source, sourcePort, sequence, acknowledgement, flags }: Segment): void {
    const hasAcknowledgement = (flags & flag.ACK) !== 0
    this.send({
      destination: source,
      sourcePort: destinationPort,
      destinationPort: sourcePort,
      sequence: hasAcknowledgement ? acknowledgement : 0,
      acknowledgement: hasAcknowledgement ? 0 : sequence + 1,
      flags: hasAcknowledgement ? flag.RST : flag.RST | flag.ACK,
      window: 0,
      mss: 0,
      scale: -1,
      payload: Buffer.alloc(0),
    })
  }
}

export class MemorySocket {
  state: 'connecting' | 'open' | 'refused' | 'reset' = 'connecting'
  /** The peer's FIN came, and everything before it. */
  isEnded = false
  readonly #kernel: MemoryKernel
  readonly #port: number
  readonly #peer: number
  readonly #peerPort: number
  #unread = Buffer.alloc(0)
  #unsent = Buffer.alloc(0)
  #isClosing = false
  #isClosed = false
  #sendNext: number
  #sendEnd: number
  #peerScale = 0
  #receiveNext = 0
  /** What the peer may send up to. */
  #receiveEnd = 0

  constructor(kernel: MemoryKernel, port: number, peer: number, peerPort: number, sequence: number = firstSequence) {
    this.#kernel = kernel
    this.#port = port
    this.#peer = peer
    this.#peerPort = peerPort
    this.#sendNext = sequence
    this.#sendEnd = sequence
  }

  get key(): string {
    return `${this.#port} ${this.#peer} ${this.#peerPort}`
  }

  write(bytes: Buffer): void {
    this.#unsent = Buffer.concat([this.#unsent, bytes])
    if (this.state === 'open') this.#flush()
  }

  read(length: number): Buffer {
    const bytes = this.#unread.subarray(0, length)
    const wasTight = capacity - this.#unread.length < segmentLengthMax
    this.#unread = this.#unread.subarray(length)
    if (wasTight && this.state === 'open' && bytes.length > 0) this.transmit(flag.ACK)
    return bytes
  }

  close(): void {
    this.#isClosing = true
    if (this.state === 'open') this.#flush()
  }

  reset(): void {
    this.transmit(flag.RST | flag.ACK)
    this.#end('reset')
  }

  meet(syn: Segment): void {
    this.#receiveNext = (syn.sequence + 1) >>> 0
    this.#receiveEnd = this.#receiveNext
    this.#peerScale = syn.scale
    this.#offer(syn)
  }

  receive(segment: Segment): void {
    const { flags, payload, sequence } = segment
    if (flags & flag.RST) {
      if (this.state !== 'connecting' && sequence !== this.#receiveNext)
        throw new Error(`expected a RST at ${this.#receiveNext}, found one at ${sequence}`)
      this.#end(this.state === 'connecting' ? 'refused' : 'reset')
      return
    }
    if (flags & flag.SYN) {
      this.meet(segment)
      this.state = 'open'
      this.#sendNext = (this.#sendNext + 1) >>> 0
      this.#offer(segment)
      this.transmit(flag.ACK)
      this.#flush()
      return
    }
    if (this.state === 'connecting') {
      this.state = 'open'
      this.#sendNext = (this.#sendNext + 1) >>> 0
    }
    if (sequence !== this.#receiveNext) throw new Error(`expected byte ${this.#receiveNext}, found ${sequence}`)
    if (((this.#receiveEnd - sequence - payload.length) | 0) < 0) throw new Error('the window was overrun')
    if (payload.length > segmentLengthMax) throw new Error(`a segment has ${payload.length} bytes`)
    if (this.isEnded && payload.length > 0) throw new Error('data follow a FIN')
    this.#unread = Buffer.concat([this.#unread, payload])
    const hasFin = (flags & flag.FIN) !== 0
    this.#receiveNext = (sequence + payload.length + (hasFin ? 1 : 0)) >>> 0
    if (hasFin) this.isEnded = true
    this.#offer(segment)
    if (payload.length > 0 || hasFin) this.transmit(flag.ACK)
    this.#flush()
  }

  transmit(flags: number, payload: Buffer = Buffer.alloc(0)): void {
    const isSyn = (flags & flag.SYN) !== 0
    const window = (capacity - this.#unread.length) >> (isSyn ? 0 : scale)
    const end = (this.#receiveNext + (window << (isSyn ? 0 : scale))) >>> 0
    // What was offered once holds, though a scaled window cannot say it to the byte.
    if (((end - this.#receiveEnd) | 0) > 0) this.#receiveEnd = end
    this.#kernel.send({
      destination: this.#peer,
      sourcePort: this.#port,
      destinationPort: this.#peerPort,
      sequence: this.#sendNext,
      acknowledgement: flags & flag.ACK ? this.#receiveNext : 0,
      flags,
      window,
      mss: isSyn ? segmentLengthMax : 0,
      scale: isSyn ? scale : -1,
      payload,
    })
  }

  #offer({ acknowledgement, window, flags }: Segment): void {
    const isSyn = (flags & flag.SYN) !== 0
    const from = isSyn && !(flags & flag.ACK) ? this.#sendNext + 1 : acknowledgement
    this.#sendEnd = (from + (window << (isSyn ? 0 : this.#peerScale))) >>> 0
  }

  #flush(): void {
    while (true) {
      const room = (this.#sendEnd - this.#sendNext) | 0
      const length = Math.min(this.#unsent.length, room, segmentLengthMax)
      if (length <= 0) break
      this.transmit(flag.ACK, this.#unsent.subarray(0, length))
      this.#unsent = this.#unsent.subarray(length)
      this.#sendNext = (this.#sendNext + length) >>> 0
    }
    if (!this.#isClosing || this.#isClosed || this.#unsent.length > 0) return
    this.transmit(flag.FIN | flag.ACK)
    this.#sendNext = (this.#sendNext + 1) >>> 0
    this.#isClosed = true
  }

  #end(state: 'refused' | 'reset'): void {
    this.state = state
    this.#kernel.forget(this)
  }
}
