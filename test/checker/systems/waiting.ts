import { Model } from './model.ts'

/** A message in flight. Those between two nodes keep their order. */
interface Held {
  readonly from: string
  readonly to: string
  readonly ordinal: number
  readonly text: string
}

/** Plain data: a state of one of these systems. */
export interface Waiting {
  held: Held[]
  sent: Record<string, number>
  /** By node and name, in how many milliseconds of its node's clock a timer is due. */
  timers: Record<string, Record<string, number>>
  calls: Record<string, number>
  // biome-ignore lint/suspicious/noExplicitAny: each system keeps what it needs
  data: any
  bad: boolean
}

/** What a node may do while it takes an input. */
class Hands {
  readonly state: Waiting
  readonly #node: string

  constructor(state: Waiting, node: string) {
    this.state = state
    this.#node = node
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  get data(): any {
    return this.state.data
  }

  send(to: string, text: string): void {
    const way = `${this.#node}→${to}`
    const ordinal = (this.state.sent[way] ?? 0) + 1
    this.state.sent[way] = ordinal
    this.state.held.push({ from: this.#node, to, ordinal, text })
  }

  /** Loses what is on the way to a node, as a connection that is closed. */
  hangUp(to: string): void {
    this.state.held = this.state.held.filter(each => !(each.from === this.#node && each.to === to))
  }

  set(name: string, ms: number): void {
    this.state.timers[this.#node] = { ...this.state.timers[this.#node], [name]: ms }
  }

  bad(): void {
    this.state.bad = true
  }
}

/** A small system whose fault needs conversations that are over, a long wait of one node, and a call after it. */
export interface Shape {
  readonly name: string
  /** By client: the node that it calls, and how often. */
  readonly clients: Readonly<Record<string, readonly [node: string, times: number]>>
  readonly timers: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly data: unknown
  /** By node: takes a call (`put`), a message, or a timer. */
  readonly nodes: Readonly<Record<string, (hands: Hands, what: string, from: string) => void>>
}

export const systemOf = ({ clients, timers, data, nodes }: Shape): Model<Waiting> => {
  const initial: Waiting = {
    held: [],
    sent: {},
    timers: structuredClone(timers) as Waiting['timers'],
    calls: Object.fromEntries(Object.entries(clients).map(([name, [, times]]) => [name, times])),
    data,
    bad: false,
  }
  const after = (state: Waiting, node: string, prepare: (next: Waiting) => void, what: string, from: string) => () => {
    const next = structuredClone(state)
    prepare(next)
    nodes[node]!(new Hands(next, node), what, from)
    return next
  }
  return new Model<Waiting>(initial, state => [
    ...Object.entries(clients).flatMap(([name, [node]]) => {
      if (state.calls[name] === 0) return []
      const call = (next: Waiting) => {
        next.calls[name]! -= 1
      }
      return [
        { kind: 'client' as const, node: name, label: `client ${name}`, next: after(state, node, call, name, '') },
      ]
    }),
    ...state.held
      .filter(({ from, to }, place) => state.held.findIndex(each => each.from === from && each.to === to) === place)
      .map(held => {
        const { from, to, ordinal, text } = held
        const take = (next: Waiting) => {
          next.held.splice(state.held.indexOf(held), 1)
        }
        const label = `${from}→${to} #${ordinal} ${text}`
        return { kind: 'deliver' as const, node: to, label, next: after(state, to, take, text, from) }
      }),
    ...Object.entries(state.timers).flatMap(([node, timers]) => {
      const [earliest] = Object.entries(timers).sort(([, one], [, other]) => one - other)
      if (earliest === undefined) return []
      const [name, afterMs] = earliest
      const fire = (next: Waiting) => {
        const own = next.timers[node]!
        delete own[name]
        for (const each of Object.keys(own)) own[each]! -= afterMs
      }
      const label = `${node} timer +${afterMs}ms`
      return [{ kind: 'timer' as const, node, label, afterMs, next: after(state, node, fire, name, 'timer') }]
    }),
  ])
}

/** With a monitor that asks a node again and again, and that node's own ticks, as there are in every real system. */
const monitored = (node: string, shape: Shape): Shape => ({
  ...shape,
  timers: { ...shape.timers, [node]: { ...shape.timers[node], pulse: 2500 }, monitor: { tick: 1000 } },
  nodes: {
    ...shape.nodes,
    [node]: (hands, what, from) => {
      if (what === 'ping') hands.send('monitor', 'pong')
      else if (what === 'pulse') hands.set('pulse', 2500)
      else shape.nodes[node]!(hands, what, from)
    },
    monitor: (hands, what) => {
      if (what !== 'tick') return
      hands.send(node, 'ping')
      hands.set('tick', 1000)
    },
  },
})

const second = 1000

/** Ten of them. */
export const shapes: readonly Shape[] = [
  monitored('proxy', {
    name: 'a proxy ejects a server for 30 s and brings it back without what it missed',
    clients: { put: ['proxy', 4], get: ['proxy', 3] },
    timers: {},
    data: { value: 0, acked: 0, failed: 0, waits: false, ejected: false, s1: 0, s2: 0 },
    nodes: {
      proxy: (hands, what, from) => {
        const { data } = hands
        if (what === 'put') {
          data.value += 1
          if (!data.ejected) hands.send('s1', `set ${data.value}`)
          hands.send('s2', `set ${data.value}`)
          data.waits = !data.ejected
          if (!data.ejected) hands.set('late', second)
        } else if (what === 'get' && !data.ejected && data.s1 < data.acked && !data.waits) hands.bad()
        else if (what.startsWith('ok') && from === 's1') data.waits = false
        else if (what.startsWith('ok')) data.acked = Math.max(data.acked, Number(what.split(' ')[1]))
        else if (what === 'late' && data.waits) {
          data.waits = false
          data.failed += 1
          hands.hangUp('s1')
          if (data.failed === 2) {
            data.ejected = true
            hands.set('back', 30 * second)
          } else data.acked = 0
        } else if (what === 'back') data.ejected = false
      },
      s1: (hands, what) => {
        hands.data.s1 = Number(what.split(' ')[1])
        hands.send('proxy', `ok ${hands.data.s1}`)
      },
      s2: (hands, what) => {
        hands.data.s2 = Number(what.split(' ')[1])
        hands.send('proxy', `ok ${hands.data.s2}`)
      },
    },
  }),
  monitored('locks', {
    name: 'a lease of 10 s is over while its holder is still busy',
    clients: { a: ['a', 3], b: ['b', 3] },
    timers: {},
    data: { holder: '', token: 0, tokens: {}, last: 0 },
    nodes: {
      a: worker,
      b: worker,
      locks: (hands, what, from) => {
        if (what === 'expire') hands.data.holder = ''
        if (what !== 'acquire' || hands.data.holder !== '') return
        hands.data.holder = from
        hands.data.token += 1
        hands.set('expire', 10 * second)
        hands.send(from, `granted ${hands.data.token}`)
      },
      store: (hands, what) => {
        const token = Number(what.split(' ')[1])
        if (token < hands.data.last) hands.bad()
        hands.data.last = token
      },
    },
  }),
  monitored('cache', {
    name: 'a cache forgets after 30 s what the replica has not got yet',
    clients: { put: ['cache', 3], get: ['cache', 3] },
    timers: { primary: { sync: 60 * second } },
    data: { cached: 0, isCached: false, value: 0, primary: 0, replica: 0, seen: 0 },
    nodes: {
      cache: (hands, what) => {
        const { data } = hands
        if (what === 'put') {
          data.value += 1
          hands.send('primary', `set ${data.value}`)
        } else if (what.startsWith('done')) {
          data.cached = Number(what.split(' ')[1])
          data.isCached = true
          hands.set('forget', 30 * second)
        } else if (what === 'forget') data.isCached = false
        else if (what === 'get' && data.isCached) data.seen = Math.max(data.seen, data.cached)
        else if (what === 'get') hands.send('replica', 'read')
        else if (what.startsWith('read') && Number(what.split(' ')[1]) < data.seen) hands.bad()
      },
      primary: (hands, what) => {
        if (what === 'sync') {
          hands.send('replica', `copy ${hands.data.primary}`)
          hands.set('sync', 60 * second)
          return
        }
        hands.data.primary = Number(what.split(' ')[1])
        hands.send('cache', `done ${hands.data.primary}`)
      },
      replica: (hands, what) => {
        if (what === 'read') hands.send('cache', `read ${hands.data.replica}`)
        else hands.data.replica = Number(what.split(' ')[1])
      },
    },
  }),
  monitored('web', {
    name: 'a session expires after half an hour, and all its orders are sent again',
    clients: { login: ['web', 1], order: ['web', 4] },
    timers: {},
    data: { isIn: false, orders: [], session: false, got: [] },
    nodes: {
      web: (hands, what) => {
        const { data } = hands
        if (what === 'login') hands.send('shop', 'open')
        else if (what === 'opened') data.isIn = true
        else if (what === 'order' && data.isIn) {
          data.orders.push(data.orders.length + 1)
          hands.send('shop', `order ${data.orders.length}`)
        } else if (what === 'expired') {
          hands.send('shop', 'open')
          for (const order of data.orders) hands.send('shop', `order ${order}`)
        }
      },
      shop: (hands, what) => {
        const { data } = hands
        if (what === 'open') {
          data.session = true
          hands.set('expire', 1800 * second)
          hands.send('web', 'opened')
        } else if (what === 'expire') data.session = false
        else if (!data.session) hands.send('web', 'expired')
        else {
          if (data.got.filter((each: string) => each === what).length > 0 && data.got.length > 2) hands.bad()
          data.got.push(what)
        }
      },
    },
  }),
  monitored('a', {
    name: 'a deleted value comes back from the replica that has not got its mark yet, once that is purged',
    clients: { put: ['a', 1], remove: ['a', 1], get: ['a', 3] },
    timers: { c: { repair: 20 * second } },
    data: { a: 'none', c: 'none', removed: false },
    nodes: {
      a: (hands, what) => {
        const { data } = hands
        if (what === 'put') {
          data.a = 'value'
          hands.send('c', 'put')
        } else if (what === 'remove' && data.a === 'value') {
          data.a = 'mark'
          data.removed = true
          hands.set('purge', 60 * second)
          hands.set('send', 90 * second)
        } else if (what === 'send') hands.send('c', 'remove')
        else if (what === 'purge') data.a = 'none'
        else if (what === 'have value' && data.a === 'none') data.a = 'value'
        else if (what === 'get' && data.removed && data.a === 'value') hands.bad()
      },
      c: (hands, what) => {
        const { data } = hands
        if (what === 'put') data.c = 'value'
        else if (what === 'remove') data.c = 'none'
        else {
          hands.send('a', `have ${data.c}`)
          hands.set('repair', 20 * second)
        }
      },
    },
  }),
  monitored('breaker', {
    name: 'a breaker that was open for 30 s takes a refusal for a success',
    clients: { ask: ['breaker', 7] },
    timers: {},
    data: { failed: 0, state: 'closed', busy: false, taken: 0, probed: false },
    nodes: {
      breaker: (hands, what) => {
        const { data } = hands
        if (what === 'ask' && data.state !== 'open') hands.send('service', data.state === 'half' ? 'probe' : 'ask')
        else if (what === 'wait') data.state = 'half'
        else if (what === 'busy' && data.state === 'closed') {
          if (data.probed) hands.bad()
          data.failed += 1
          if (data.failed < 2) return
          data.state = 'open'
          hands.set('wait', 30 * second)
        } else if (what.startsWith('probed')) {
          data.state = 'closed'
          data.failed = 0
          data.probed = what === 'probed busy'
        }
      },
      service: (hands, what) => {
        const { data } = hands
        if (what === 'rest') {
          data.busy = false
          data.taken = 0
          return
        }
        if (what === 'probe') hands.send('breaker', data.busy ? 'probed busy' : 'probed')
        else if (data.busy) hands.send('breaker', 'busy')
        else {
          data.taken += 1
          data.busy = data.taken === 1
          if (data.busy) hands.set('rest', 20 * second)
          hands.send('breaker', 'done')
        }
      },
    },
  }),
  monitored('registry', {
    name: 'an entry that has expired is made again by a heartbeat with the old address',
    clients: { move: ['node', 1], find: ['registry', 3] },
    timers: { node: { beat: 10 * second }, registry: { expire: 30 * second } },
    data: { address: 'old', moved: false },
    nodes: {
      node: (hands, what) => {
        if (what === 'move') hands.send('registry', 'register new')
        else if (what === 'beat') {
          hands.send('registry', 'beat old')
          hands.set('beat', 10 * second)
        } else if (what === 'moved') hands.data.moved = true
      },
      registry: (hands, what, from) => {
        const { data } = hands
        if (what === 'expire') data.address = 'none'
        else if (what === 'register new') {
          data.address = 'new'
          hands.send(from, 'moved')
        } else if (what === 'beat old' && data.address === 'none') data.address = 'old'
        else if (what === 'find' && data.moved && data.address === 'old') hands.bad()
      },
    },
  }),
  monitored('bank', {
    name: 'a payment is known for 50 s, and made again after that',
    clients: { pay: ['till', 1], again: ['till', 2], other: ['till', 3] },
    timers: { bank: { tick: 10 * second } },
    data: { known: {}, paid: {}, confirmed: false },
    nodes: {
      till: (hands, what) => {
        if (what === 'confirmed') hands.data.confirmed = true
        else if (what === 'again' && !hands.data.confirmed) return
        else hands.send('bank', what === 'other' ? 'ask' : 'pay 1')
      },
      bank: (hands, what) => {
        const { data } = hands
        if (what === 'tick') {
          for (const id of Object.keys(data.known)) if (--data.known[id] === 0) delete data.known[id]
          hands.set('tick', 10 * second)
        } else if (what.startsWith('pay') && data.known[what] === undefined) {
          data.known[what] = 5
          data.paid[what] = (data.paid[what] ?? 0) + 1
          if (data.paid[what] === 2) hands.bad()
          hands.send('till', 'confirmed')
        }
      },
    },
  }),
  monitored('primary', {
    name: 'a standby promotes itself after 20 s, and the primary still confirms',
    clients: { put: ['primary', 3], get: ['standby', 3] },
    timers: { primary: { beat: 5 * second }, standby: { promote: 20 * second } },
    data: { value: 0, acked: 0, copy: 0, isPromoted: false },
    nodes: {
      primary: (hands, what) => {
        const { data } = hands
        if (what === 'beat') {
          hands.send('standby', 'beat')
          hands.set('beat', 5 * second)
        } else if (what === 'put') {
          data.value += 1
          hands.send('standby', `copy ${data.value}`)
        } else if (what.startsWith('copied') || what.startsWith('refused')) data.acked = Number(what.split(' ')[1])
      },
      standby: (hands, what) => {
        const { data } = hands
        if (what === 'beat' && !data.isPromoted) hands.set('promote', 20 * second)
        else if (what === 'promote') data.isPromoted = true
        else if (what.startsWith('copy')) {
          const value = Number(what.split(' ')[1])
          if (!data.isPromoted) data.copy = value
          hands.send('primary', `${data.isPromoted ? 'refused' : 'copied'} ${value}`)
        } else if (what === 'get' && data.isPromoted && data.acked > data.copy && data.copy > 0) hands.bad()
      },
    },
  }),
  monitored('log', {
    name: 'a log begins anew every minute, and a reader goes on at its old place',
    clients: { append: ['log', 5], read: ['reader', 4] },
    timers: { log: { rotate: 60 * second } },
    data: { entries: 0, older: 0, place: 0, segment: 0, known: 0 },
    nodes: {
      log: (hands, what) => {
        const { data } = hands
        if (what === 'append') data.entries += 1
        else if (what === 'rotate') {
          data.segment += 1
          data.entries = 0
          hands.set('rotate', 60 * second)
        } else if (what.startsWith('from')) {
          const place = Number(what.split(' ')[1])
          if (data.segment > data.known && data.entries > 0 && place >= 2 && data.entries <= place) hands.bad()
          hands.send('reader', `upto ${data.entries} ${data.segment}`)
        }
      },
      reader: (hands, what) => {
        const { data } = hands
        if (what === 'read') hands.send('log', `from ${data.place}`)
        else {
          data.place = Number(what.split(' ')[1])
          data.known = Number(what.split(' ')[2])
        }
      },
    },
  }),
]

/** Asks for the lock, is busy for 15 s once it has it, and writes then. */
function worker(hands: Hands, what: string): void {
  if (what === 'a' || what === 'b') hands.send('locks', 'acquire')
  else if (what.startsWith('granted')) {
    hands.data.tokens[what] = true
    hands.set(`write ${what.split(' ')[1]}`, 15 * second)
  } else if (what.startsWith('write')) hands.send('store', what)
}
