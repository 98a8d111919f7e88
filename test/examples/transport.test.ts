import { createSocket, type Socket } from 'node:dgram'
import { on, once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { array, assert, boolean, nat, property } from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
// @ts-expect-error: plain JavaScript without declarations, as a service is
import { Receiver, Sender } from '../../examples/transport/protocol.js'
import { loopback, type Service, start } from './service.ts'

interface Packet {
  type: 'SYN' | 'DATA' | 'ACK'
  seq: number
  opened?: number
  message?: string
}

interface SenderEnd {
  unacknowledged: string[]
  connection: object
  inFlight: boolean
  give(message: string): Packet[]
  onPacket(packet: Packet): Packet[]
  onTimer(): Packet[]
}

interface ReceiverEnd {
  delivered: string[]
  connection?: object
  onPacket(packet: Packet): Packet[]
}

/** Both ends and what is in flight between them. Connections start at 2001, 6001, 10001 and so on, as in the paper. */
class World {
  readonly sender: SenderEnd
  readonly receiver: ReceiverEnd
  /** Whether a packet stays in flight when it is delivered: a network that duplicates whatever it carries. */
  hoards = false
  #inFlight: Packet[] = []

  constructor(acceptStaleSyn: boolean) {
    let opened = 0
    this.sender = new Sender(() => ({ opened: ++opened, seq: 4_000 * opened - 1_999 }))
    this.receiver = new Receiver({ acceptStaleSyn })
    for (const message of ['m1', 'm2']) this.#transmit(this.sender.give(message))
  }

  get live() {
    return this.sender.unacknowledged.length === 0
  }

  get inFlight() {
    return this.#inFlight.map(label)
  }

  /** What can happen now. A packet that is in flight twice is one choice. */
  choices(faults: readonly string[] = []): string[] {
    const packets = [...new Set(this.inFlight)]
    const timers = this.sender.inFlight ? ['timer'] : []
    return [...packets, ...timers, ...faults.flatMap(fault => packets.map(packet => `${fault} ${packet}`))]
  }

  execute(choice: string): this {
    if (choice === 'timer') this.#transmit(this.sender.onTimer())
    else if (choice.startsWith('drop ')) this.#take(choice.slice(5))
    else if (choice.startsWith('duplicate ')) this.#transmit([this.#find(choice.slice(10))])
    else this.#deliver(this.hoards ? this.#find(choice) : this.#take(choice))
    return this
  }

  /** Delivers what is in flight, oldest first, and fires the timer when nothing is, until the good is reached. */
  recovers(): boolean {
    for (let step = 0; step < 1_000 && !this.live; step++) this.execute(this.inFlight[0] ?? 'timer')
    return this.live
  }

  /** Equal for equal states. */
  key(): string {
    const { sender, receiver, inFlight } = this
    const network = this.hoards ? [...new Set(inFlight)] : inFlight
    return JSON.stringify([sender.unacknowledged, sender.connection, receiver.connection, network.sort()])
  }

  #transmit(packets: readonly Packet[]) {
    this.#inFlight.push(...packets)
  }

  #deliver(packet: Packet) {
    this.#transmit((packet.type === 'ACK' ? this.sender : this.receiver).onPacket(packet))
  }

  #find(name: string): Packet {
    const packet = this.#inFlight.find(candidate => label(candidate) === name)
    if (!packet) throw new Error(`expected ${name} in flight, found ${this.inFlight.join(', ')}`)
    return packet
  }

  #take(name: string): Packet {
    const packet = this.#find(name)
    this.#inFlight.splice(this.#inFlight.indexOf(packet), 1)
    return packet
  }
}

const label = ({ type, seq }: Packet) => `${type} ${seq}`

type Schedule = readonly string[]
type Replay = (schedule: Schedule) => World

const correct: Replay = schedule => schedule.reduce((world, choice) => world.execute(choice), new World(false))
const variant: Replay = schedule => schedule.reduce((world, choice) => world.execute(choice), new World(true))

/** A schedule to each state that is reached within `depth` choices, breadth first. */
function* schedules(replay: Replay, depth: number, faults: readonly string[] = []) {
  const seen = new Set([replay([]).key()])
  let frontier: Schedule[] = [[]]
  for (let step = 0; step < depth && frontier.length > 0; step++) {
    const next: Schedule[] = []
    for (const schedule of frontier) {
      for (const choice of replay(schedule).choices(faults)) {
        const longer = [...schedule, choice]
        const key = replay(longer).key()
        if (seen.has(key)) continue
        seen.add(key)
        yield longer
        next.push(longer)
      }
    }
    frontier = next
  }
}

/** Whether no state that comes after a schedule is live, whatever the network does; only for a sender that never gives up. */
const isDead = (replay: Replay, schedule: Schedule): boolean => {
  const onwards: Replay = more => {
    const world = replay(schedule)
    world.hoards = true
    return more.reduce((reached, choice) => reached.execute(choice), world)
  }
  if (onwards([]).live) return false
  for (const more of schedules(onwards, Number.POSITIVE_INFINITY)) if (onwards(more).live) return false
  return true
}

describe('the sequence of the paper', () => {
  const untilTheLateSyn = ['timer', 'timer', 'SYN 6001', 'SYN 2001']
  const untilTheLateAck = [...untilTheLateSyn, 'ACK 6001']

  test('leads the variant to a dead state, and the late acknowledgement is the step that does', () => {
    expect(isDead(variant, untilTheLateSyn)).toBe(false)
    expect(isDead(variant, untilTheLateAck)).toBe(true)
    const world = variant(untilTheLateAck)
    expect(world.inFlight).toEqual(['SYN 2001', 'ACK 2001', 'DATA 6002'])
    expect(world.sender).toMatchObject({ unacknowledged: ['m2'], connection: { seq: 6002, established: true } })
    expect(world.receiver).toMatchObject({ delivered: ['m1', 'm1'], connection: { seq: 2001 } })
  })

  test('is live until then through the retransmission of the SYN, as in the live path of the paper', () => {
    const world = variant([...untilTheLateSyn, 'timer', 'SYN 6001', 'ACK 6001', 'DATA 6002', 'ACK 6002'])
    expect(world.live).toBe(true)
  })

  test('is harmless in the correct build, which tells the late SYN by its age', () => {
    const world = correct(untilTheLateAck)
    expect(world.inFlight).toEqual(['SYN 2001', 'ACK 6001', 'DATA 6002'])
    expect(world.recovers()).toBe(true)
    expect(world.receiver.delivered).toEqual(['m1', 'm2'])
  })
})

describe('of all schedules', () => {
  test('the shortest that kill the variant lead to that state, by the late SYN and the acknowledgement in either order', () => {
    const dead = [...schedules(variant, 5)].filter(schedule => isDead(variant, schedule))
    expect(dead).toEqual([['timer', 'timer', 'SYN 6001', 'SYN 2001', 'ACK 6001']])
    const otherOrder = ['timer', 'timer', 'SYN 6001', 'ACK 6001', 'SYN 2001']
    expect(variant(otherOrder).key()).toBe(variant(dead[0]!).key())
    expect(isDead(variant, otherOrder.slice(0, -1))).toBe(false)
  })

  test('none of up to twelve deliveries and timers keeps the correct build from recovering', () => {
    const reached = [...schedules(correct, 12)]
    expect(reached.filter(schedule => !correct(schedule).recovers())).toEqual([])
    expect(reached.length).toBe(6_329)
  })

  test('none of up to eight deliveries, timers, losses and duplicates does', () => {
    const reached = [...schedules(correct, 8, ['drop', 'duplicate'])]
    expect(reached.filter(schedule => !correct(schedule).recovers())).toEqual([])
    expect(reached.length).toBe(2_851)
  })

  test('none of up to two hundred does, of those that chance gives', () => {
    assert(
      property(array(nat(), { maxLength: 200 }), boolean(), (picks, faulty) => {
        const world = new World(false)
        for (const pick of picks) {
          const choices = world.choices(faulty ? ['drop', 'duplicate'] : [])
          if (choices.length > 0) world.execute(choices[pick % choices.length]!)
        }
        expect(world.recovers()).toBe(true)
      }),
    )
  })
})

interface SenderState {
  unacknowledged: string[]
}

interface ReceiverState {
  delivered: string[]
}

const example = fileURLToPath(new URL('../../examples/transport/', import.meta.url))
const port = 7000

const startReceiver = async (env = {}): Promise<Service<ReceiverState>> => {
  const receiver = start<ReceiverState>([`${example}receiver.js`, `${loopback(2)}:${port}`], env)
  await receiver.state(() => true)
  return receiver
}

/** The network between both processes, or one end, played by the test. */
const openSocket = async (): Promise<Socket> => {
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  await once(socket.bind(port, loopback(3)), 'listening')
  return socket
}

describe('the processes', () => {
  test('carry messages over real datagrams, the first of which is lost', async () => {
    const receiver = await startReceiver()
    const network = await openSocket()
    const toOther = (from: string) => (from === loopback(1) ? loopback(2) : loopback(1))
    let lost: Packet | undefined
    network.on('message', (bytes, { address }) => {
      if (lost) network.send(bytes, port, toOther(address))
      else lost = JSON.parse(bytes.toString())
    })
    const sender = start<SenderState>([
      `${example}sender.js`,
      `${loopback(1)}:${port}`,
      `${loopback(3)}:${port}`,
      'm1',
      'm2',
    ])
    await sender.state(state => state.unacknowledged.length === 0)
    // Where the machine is slow the sender gives `m1` again, and it arrives again.
    const { delivered } = await receiver.state(state => state.delivered.includes('m2'))
    expect(lost).toMatchObject({ type: 'SYN', message: 'm1' })
    expect([...new Set(delivered)]).toEqual(['m1', 'm2'])
  })

  const lateSyn: Packet[] = [
    { type: 'SYN', seq: 6001, opened: 2, message: 'm1' },
    { type: 'SYN', seq: 2001, opened: 1, message: 'm1' },
    { type: 'DATA', seq: 6002, message: 'm2' },
  ]

  const answersTo = async (packets: readonly Packet[]): Promise<Packet[]> => {
    const network = await openSocket()
    const answers = on(network, 'message')
    for (const packet of packets) network.send(JSON.stringify(packet), port, loopback(2))
    const received = []
    for (let n = 0; n < packets.length; n++) received.push(JSON.parse((await answers.next()).value[0].toString()))
    return received
  }

  test('keep to the later connection when a SYN is late', async () => {
    await startReceiver()
    expect((await answersTo(lateSyn)).map(label)).toEqual(['ACK 6001', 'ACK 6001', 'ACK 6002'])
  })

  test('take the late SYN for a new connection with BUG=transport-stale-syn', async () => {
    await startReceiver({ BUG: 'transport-stale-syn' })
    expect((await answersTo(lateSyn)).map(label)).toEqual(['ACK 6001', 'ACK 2001', 'ACK 2001'])
  })
})
