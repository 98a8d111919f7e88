import { array, assert, constantFrom, nat, property, record } from 'fast-check'

/** A member of a group that agrees on one value, without its sockets and clocks. */
export interface Member {
  readonly chosen: unknown
  receive(message: object, sender: string): void
}

/** The disk survives the member. */
export interface Place {
  readonly self: string
  readonly members: readonly string[]
  readonly disk: Map<string, string>
  send(member: string, message: object): void
}

interface Flight {
  from: string
  to: string
  message: string
}

const names = ['a', 'b', 'c']
const deeds = [
  'deliver',
  'deliver',
  'deliver',
  'deliver',
  'deliver',
  'deliver',
  'repeat',
  'lose',
  'tick',
  'restart',
] as const
const deed = record({ what: constantFrom(...deeds), which: nat() })

/** Three members and the network between them, which loses, repeats and reorders. */
class Group<M extends Member> {
  readonly everChosen = new Set<string>()
  readonly #start: (place: Place) => M
  readonly #tick: (member: M, name: string) => void
  readonly #disks = new Map(names.map(name => [name, new Map<string, string>()]))
  readonly #members = new Map<string, M>()
  #flights: Flight[] = []

  constructor(start: (place: Place) => M, tick: (member: M, name: string) => void) {
    this.#start = start
    this.#tick = tick
    for (const name of names) this.#restart(name)
  }

  do(what: (typeof deeds)[number], which: number): void {
    const name = names[which % names.length]!
    if (what === 'tick') this.#tick(this.#members.get(name)!, name)
    else if (what === 'restart') this.#restart(name)
    else if (this.#flights.length > 0) this.#carry(what, which % this.#flights.length)
    for (const { chosen } of this.#members.values()) if (chosen !== null) this.everChosen.add(JSON.stringify(chosen))
  }

  #carry(what: (typeof deeds)[number], index: number): void {
    const { from, to, message } = this.#flights[index]!
    if (what !== 'repeat') this.#flights.splice(index, 1)
    if (what !== 'lose') this.#members.get(to)!.receive(JSON.parse(message), from)
  }

  #restart(self: string): void {
    const send = (to: string, message: object) =>
      this.#flights.push({ from: self, to, message: JSON.stringify(message) })
    this.#members.set(self, this.#start({ self, members: names, disk: this.#disks.get(self)!, send }))
  }
}

/** Whatever is lost, late, repeated or restarted, no two values are ever chosen. */
export const assertAgreement = <M extends Member>(
  start: (place: Place) => M,
  tick: (member: M, name: string) => void,
  { runs, steps }: { runs: number; steps: number },
): void =>
  assert(
    property(array(deed, { minLength: steps, maxLength: steps }), schedule => {
      const group = new Group(start, tick)
      for (const { what, which } of schedule) group.do(what, which)
      return group.everChosen.size <= 1
    }),
    { numRuns: runs },
  )
