import { check } from '../../../checker/check.ts'
import type { SearchOptions } from '../../../checker/searches/options.ts'
import { always, eventually } from '../../../checker/system/property.ts'
import type { ChoiceKind } from '../../../checker/system/system.ts'
import type { Verdict } from '../../../checker/verdict/verdict.ts'
import { Model, type Transition } from '../systems/model.ts'

/** A small system with a violation that a search would miss which cheats in one way, and its correct twin. */
export interface Case {
  readonly name: string
  readonly kind: 'safety' | 'liveness'
  readonly check: (isCorrect: boolean, options: SearchOptions) => Promise<Verdict>
}

interface Definition<State> {
  readonly name: string
  readonly initial: State
  readonly steps: (state: State, isCorrect: boolean) => readonly Transition<State>[]
  /** What is observed, where that is not all. */
  readonly seen?: (state: State) => unknown
  readonly always?: (state: State) => boolean
  readonly eventually?: (state: State) => boolean
}

const define = <State>({ name, initial, steps, seen, ...holds }: Definition<State>): Case => {
  const fingerprintOf = seen && ((state: State) => JSON.stringify(seen(state)))
  const good = holds.always ? always(holds.always) : eventually(holds.eventually!)
  return {
    name,
    kind: holds.always ? 'safety' : 'liveness',
    check: (isCorrect, options) => {
      const system = new Model<State>(initial, state => steps(state, isCorrect), {}, fingerprintOf)
      return check(system, { good }, options)
    },
  }
}

const step = <State>(kind: ChoiceKind, node: string, label: string, next: () => State): Transition<State> => ({
  kind,
  node,
  label,
  next,
})

const timer = <State>(node: string, next: () => State, what = 'timer'): Transition<State> =>
  step('timer', node, `${node} ${what}`, next)

const twoCuts = define({
  name: 'two cuts with a heal between them, where one alone loses too little',
  initial: { cut: null as string | null, lost: [] as string[], left: 2 },
  steps: ({ cut, lost, left }, isCorrect) => [
    ...(cut === null && left > 0
      ? ['a', 'b', 'c'].map(name =>
          step('partition', name, `partition ${name}`, () => ({
            cut: name,
            lost: isCorrect || lost.includes(name) ? lost : [...lost, name].toSorted(),
            left: left - 1,
          })),
        )
      : []),
    ...(cut === null ? [] : [step('heal', '', 'heal', () => ({ cut: null, lost, left }))]),
  ],
  // The nodes show nothing; the network does.
  seen: ({ cut, lost, left }) => [cut, left, lost.length === 2],
  always: ({ lost }) => !(lost.includes('a') && lost.includes('b')),
})

const cutAfterHeal = define({
  name: 'the same cut again after a heal',
  initial: { cut: false, cuts: 0, left: 3 },
  steps: ({ cut, cuts, left }, isCorrect) => [
    ...(!cut && left > 0
      ? [step('partition', 'a', 'partition a', () => ({ cut: true, cuts: isCorrect ? 1 : cuts + 1, left: left - 1 }))]
      : []),
    ...(cut ? [step('heal', '', 'heal', () => ({ cut: false, cuts, left }))] : []),
  ],
  seen: ({ cut, left }) => [cut, left],
  always: ({ cuts }) => cuts < 2,
})

const hiddenCounter = define({
  name: 'a counter that nobody sees until it is full',
  initial: 0,
  steps: (count, isCorrect) => [timer('n', () => (isCorrect ? (count + 1) % 2 : count + 1))],
  seen: count => [count % 2, count === 7],
  always: count => count < 7,
})

const hiddenOrder = define({
  name: 'the order of two inputs, which shows only at a third',
  initial: { got: [] as string[], asked: false },
  steps: ({ got, asked }, isCorrect) => [
    ...['x', 'y'].flatMap(letter =>
      got.includes(letter)
        ? []
        : [
            step('deliver', 'n', `m→n #1 ${letter}`, () => ({
              got: isCorrect ? [...got, letter].toSorted() : [...got, letter],
              asked,
            })),
          ],
    ),
    ...(got.length === 2 && !asked ? [step('client', 'client', 'client ask', () => ({ got, asked: true }))] : []),
  ],
  seen: ({ got, asked }) => [got.length, asked && got[0]],
  always: ({ got, asked }) => !(asked && got[0] === 'y'),
})

const halfOpen = define({
  name: 'a connection that one end has forgotten',
  initial: { a: 'closed' as 'closed' | 'open', b: 'closed' as 'closed' | 'open', resets: 1, sent: false },
  steps: ({ a, b, resets, sent }, isCorrect) => [
    ...(a === 'closed'
      ? [step('deliver', 'b', 'a→b #1 open', () => ({ a: 'open', b: 'open', resets, sent }) as const)]
      : []),
    ...(b === 'open' && resets > 0
      ? [
          step('reset', 'b', 'reset b silently', () => ({
            a: isCorrect ? ('closed' as const) : a,
            b: 'closed' as const,
            resets: resets - 1,
            sent,
          })),
        ]
      : []),
    ...(a === 'open' && !sent ? [timer('a', () => ({ a, b, resets, sent: true }))] : []),
  ],
  // What is open is known to the kernels alone.
  seen: ({ resets, sent }) => [resets, sent],
  always: ({ a, b, sent }) => !(sent && a === 'open' && b === 'closed'),
})

const tornWrite = define({
  name: 'a crash between two writes to a disk',
  initial: { up: true, first: 0, second: 0, crashes: 1, read: false },
  steps: ({ up, first, second, crashes, read }, isCorrect) => [
    ...(up && first === second
      ? [timer('n', () => ({ up, first: 1 - first, second: isCorrect ? 1 - first : second, crashes, read: false }))]
      : []),
    ...(up && first !== second ? [timer('n', () => ({ up, first, second: first, crashes, read: false }))] : []),
    ...(up && crashes > 0
      ? [step('crash', 'n', 'crash n', () => ({ up: false, first, second, crashes: crashes - 1, read }))]
      : []),
    ...(up ? [] : [step('restart', 'n', 'restart n', () => ({ up: true, first, second, crashes, read: true }))]),
  ],
  seen: ({ up, crashes, read, first, second }) => [up, crashes, read && first !== second],
  always: ({ first, second, read }) => !(read && first !== second),
})

const lateMessage = define({
  name: 'a message that comes after its receiver gave up twice',
  initial: { flight: true, given: 0, broken: false },
  steps: ({ flight, given, broken }, isCorrect) => [
    ...(given < 4 ? [timer('n', () => ({ flight, given: given + 1, broken }))] : []),
    ...(flight
      ? [step('deliver', 'n', 'm→n #1 hello', () => ({ flight: false, given, broken: !isCorrect && given === 2 }))]
      : []),
  ],
  always: ({ broken }) => !broken,
})

const duplicated = define({
  name: 'a message that is counted twice',
  initial: { flight: 1, spare: 1, sum: 0 },
  steps: ({ flight, spare, sum }, isCorrect) => [
    ...(flight > 0
      ? [
          step('deliver', 'n', `m→n #${flight} pay`, () => ({
            flight: flight - 1,
            spare,
            sum: isCorrect ? 1 : sum + 1,
          })),
        ]
      : []),
    ...(flight > 0 && spare > 0
      ? [step('duplicate', 'n', 'duplicate m→n pay', () => ({ flight: flight + 1, spare: spare - 1, sum }))]
      : []),
  ],
  seen: ({ flight, spare }) => [flight, spare],
  always: ({ sum }) => sum < 2,
})

const checkThenAct = define({
  name: 'two requests that enter between a check and its act',
  initial: { left: ['b', 'c'], granted: [] as string[], overlaps: 1 },
  steps: ({ left, granted, overlaps }, isCorrect) => {
    const enter = (names: readonly string[], spent: number) => () => {
      const isFree = granted.length === 0
      const given = isFree ? (isCorrect ? names.slice(0, 1) : names) : []
      return {
        left: left.filter(name => !names.includes(name)),
        granted: [...granted, ...given],
        overlaps: overlaps - spent,
      }
    }
    const labelOf = (name: string) => `${name}→a #1 lock`
    return [
      ...left.map(name => step('deliver', 'a', labelOf(name), enter([name], 0))),
      ...(overlaps > 0 && left.length === 2
        ? [
            {
              ...step('overlap', 'a', `overlap ${left.map(labelOf).join(' & ')}`, enter(left, 1)),
              joins: left.map(labelOf),
            },
          ]
        : []),
    ]
  },
  always: ({ granted }) => granted.length < 2,
})

const reversed = define({
  name: 'three messages in the reverse of their order',
  initial: [] as number[],
  steps: (got, isCorrect) =>
    [1, 2, 3].flatMap(number =>
      got.includes(number)
        ? []
        : [
            step('deliver', 'n', `m→n #${number} part ${number}`, () =>
              isCorrect ? [...got, number].toSorted() : [...got, number],
            ),
          ],
    ),
  seen: got => got.toSorted(),
  always: got => got.join() !== '3,2,1',
})

const lostUpdate = define({
  name: 'a read and a write of two nodes in between each other',
  initial: { value: 0, read: [null, null] as (number | null)[], done: [false, false] },
  steps: ({ value, read, done }, isCorrect) =>
    [0, 1].flatMap((index): Transition<{ value: number; read: (number | null)[]; done: boolean[] }>[] => {
      if (done[index]) return []
      const node = `n${index}`
      const seen = read[index]
      if (seen === null && isCorrect)
        return [timer(node, () => ({ value: value + 1, read, done: done.with(index, true) }))]
      if (seen === null) return [timer(node, () => ({ value, read: read.with(index, value), done }), 'reads')]
      return [timer(node, () => ({ value: seen! + 1, read, done: done.with(index, true) }), 'writes')]
    }),
  seen: ({ read, done }) => [read.map(each => each !== null), done],
  always: ({ value, done }) => !(done.every(Boolean) && value < 2),
})

const lostAnswer = define({
  name: 'an answer that is lost, after which nobody asks again',
  initial: { asked: false, flight: false, drops: 1, answered: false, rounds: 0 },
  steps: ({ asked, flight, drops, answered, rounds }, isCorrect) => [
    ...(!asked || (isCorrect && !answered && !flight)
      ? [timer('a', () => ({ asked: true, flight: true, drops, answered, rounds }))]
      : [timer('a', () => ({ asked, flight, drops, answered, rounds: (rounds + 1) % 3 }))]),
    ...(flight
      ? [step('deliver', 'a', 'b→a #1 answer', () => ({ asked, flight: false, drops, answered: true, rounds }))]
      : []),
    ...(flight && drops > 0
      ? [step('drop', 'a', 'drop b→a #1 answer', () => ({ asked, flight: false, drops: drops - 1, answered, rounds }))]
      : []),
  ],
  eventually: ({ answered }) => answered,
})

const retries = define({
  name: 'attempts that are counted where nobody sees it, and run out',
  initial: { tries: 0, up: false },
  steps: ({ tries, up }, isCorrect) => [
    ...(up ? [timer('n', () => ({ tries, up: false }), 'closes'), timer('n', () => ({ tries, up }), 'works')] : []),
    ...(!up && (isCorrect || tries < 3)
      ? [timer('n', () => ({ tries: isCorrect ? 0 : tries + 1, up: true }), 'opens')]
      : []),
    ...(up ? [] : [timer('n', () => ({ tries, up }), 'waits')]),
  ],
  seen: ({ up }) => up,
  eventually: ({ up }) => up,
})

const standstill = define({
  name: 'two nodes that wait for each other',
  initial: { a: 'free', b: 'free', done: 0 },
  steps: ({ a, b, done }, isCorrect) => {
    const take = (
      node: 'a' | 'b',
      own: string,
      other: string,
    ): Transition<{ a: string; b: string; done: number }>[] => {
      if (own === 'free' && isCorrect && other !== 'free') return []
      if (own === 'free') return [timer(node, () => ({ a, b, done, [node]: 'has one' }), 'takes')]
      if (own === 'has one' && other === 'free')
        return [
          timer(node, () => ({ a, b, done: (done + 1) % 2, [node]: 'free' }), 'takes the other, and gives both back'),
        ]
      return []
    }
    return [...take('a', a, b), ...take('b', b, a)]
  },
  eventually: ({ a, b }) => a === 'free' && b === 'free',
})

const wornOut = define({
  name: 'a lease that is renewed in time but for once, late in a run',
  initial: { age: 0, renewals: 0, lost: false },
  steps: ({ age, renewals, lost }, isCorrect) => [
    ...(lost
      ? [timer('n', () => ({ age: (age + 1) % 4, renewals, lost: !isCorrect && lost }))]
      : [
          step('deliver', 'n', 'm→n #1 renew', () => ({ age: 0, renewals: Math.min(renewals + 1, 3), lost })),
          timer('n', () => ({ age: age + 1, renewals, lost: renewals === 3 && age >= 2 })),
        ]),
  ],
  seen: ({ age, lost }) => [Math.min(age, 3), lost],
  eventually: ({ lost }) => !lost,
})

const forgottenPromise = define({
  name: 'a promise that a crash makes its giver forget',
  initial: { up: true, promised: false, flight: ['promise', 'accept'], crashes: 1, broken: false },
  steps: ({ up, promised, flight, crashes, broken }, isCorrect) => [
    ...(up && flight.includes('promise')
      ? [
          step('deliver', 'n', 'p→n #1 promise', () => ({
            up,
            promised: true,
            flight: flight.filter(each => each !== 'promise'),
            crashes,
            broken,
          })),
        ]
      : []),
    ...(up && flight.includes('accept')
      ? [
          step('deliver', 'n', 'q→n #1 accept', () => ({
            up,
            promised,
            flight: flight.filter(each => each !== 'accept'),
            crashes,
            broken: !flight.includes('promise') && !promised,
          })),
        ]
      : []),
    ...(up && crashes > 0
      ? [
          step('crash', 'n', 'crash n', () => ({
            up: false,
            promised: isCorrect && promised,
            flight,
            crashes: crashes - 1,
            broken,
          })),
        ]
      : []),
    ...(up ? [] : [step('restart', 'n', 'restart n', () => ({ up: true, promised, flight, crashes, broken }))]),
  ],
  // What was promised is in memory, or on a disk at which nobody looks.
  seen: ({ up, flight, crashes, broken }) => [up, flight, crashes, broken],
  always: ({ broken }) => !broken,
})

const lostTokens = define({
  name: 'two copies of a token that are lost, each by itself, so that nobody has one any more',
  initial: { copies: 2, drops: 2, held: false, waits: 0 },
  steps: ({ copies, drops, held, waits }, isCorrect) => [
    ...(held ? [timer('n', () => ({ copies: copies + 1, drops, held: false, waits: 0 }), 'passes it on')] : []),
    ...(!held && copies > 0
      ? [step('deliver', 'n', `m→n #${copies} token`, () => ({ copies: copies - 1, drops, held: true, waits }))]
      : []),
    ...(copies > 0 && drops > 0
      ? [step('drop', 'n', `drop m→n #${copies} token`, () => ({ copies: copies - 1, drops: drops - 1, held, waits }))]
      : []),
    ...(!held && copies === 0
      ? [timer('n', () => ({ copies: isCorrect ? 1 : 0, drops, held, waits: (waits + 1) % 3 }), 'waits')]
      : []),
  ],
  seen: ({ held, drops, waits }) => [held, drops, waits],
  eventually: ({ held }) => held,
})

export const cases: readonly Case[] = [
  twoCuts,
  cutAfterHeal,
  hiddenCounter,
  hiddenOrder,
  halfOpen,
  tornWrite,
  lateMessage,
  duplicated,
  checkThenAct,
  reversed,
  lostUpdate,
  lostAnswer,
  retries,
  standstill,
  wornOut,
  forgottenPromise,
  lostTokens,
]
