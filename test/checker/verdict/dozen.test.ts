import { expect, test } from 'vitest'
import { Executor } from '../../../checker/cells/executor.ts'
import { walk } from '../../../checker/cells/walk.ts'
import { defaultWeights, weighted } from '../../../checker/choosers/weights.ts'
import { always, eventually } from '../../../checker/system/property.ts'
import { Random } from '../../../checker/system/random.ts'
import { shrink } from '../../../checker/verdict/shrink-recorded.ts'
import { Model, type Transition } from '../systems/model.ts'

/**
 * Systems of which it is known how few steps do what is bad: twelve each, among heartbeats, timers and messages that a
 * random walk does much of. Messages have ordinals and say a term, so that whatever is left out changes what later ones are
 * called.
 */
const fewest = 12
/** A person keeps a step that makes a schedule easier to read now and then. */
const allowed = 1.5 * fewest

interface Chatter {
  /** Messages from each node so far, by which the next one counts. */
  readonly sent: Readonly<Record<string, number>>
  readonly flying: readonly {
    readonly from: string
    readonly to: string
    readonly number: number
    readonly text: string
  }[]
  readonly term: number
  readonly progress: Readonly<Record<string, number>>
}

const quiet: Chatter = { sent: {}, flying: [], term: 1, progress: {} }

const send = (state: Chatter, from: string, to: string, text: string): Chatter => {
  const way = `${from}→${to}`
  const number = (state.sent[way] ?? 0) + 1
  return {
    ...state,
    sent: { ...state.sent, [way]: number },
    flying: [...state.flying, { from, to, number, text: `${text} term ${state.term}` }],
  }
}

type Received = (state: Chatter, from: string, to: string, text: string) => Chatter

/** What is under way, delivered or lost, with what nodes do at their timers and heartbeats of a node that takes no part. */
const chatter = (
  timers: (state: Chatter) => Readonly<Record<string, Chatter>>,
  received: Received,
  lost: (state: Chatter, from: string, text: string) => Chatter = state => state,
) =>
  new Model<Chatter>(quiet, state => {
    const messages = state.flying.flatMap((message, index): Transition<Chatter>[] => {
      const { from, to, number, text } = message
      const arrived = { ...state, flying: state.flying.toSpliced(index, 1) }
      const label = `${from}→${to} #${number} ${text}`
      return [
        { kind: 'deliver', node: to, label, next: () => received(arrived, from, to, text.split(' ')[0]!) },
        { kind: 'drop', node: to, label: `drop ${label}`, next: () => lost(arrived, from, text.split(' ')[0]!) },
      ]
    })
    const own = Object.entries({
      ...timers(state),
      ...(state.flying.length < 6 && { 'd heartbeat': send({ ...state, term: state.term + 1 }, 'd', 'a', 'beat') }),
    })
    return [
      ...messages,
      ...own.map(([label, next]): Transition<Chatter> => {
        return { kind: 'timer', node: label.split(' ')[0]!, label, next: () => next }
      }),
    ]
  })

const advance = (state: Chatter, who: string, by = 1): Chatter => ({
  ...state,
  progress: { ...state.progress, [who]: (state.progress[who] ?? 0) + by },
})
const of = ({ progress }: Chatter, who: string): number => progress[who] ?? 0

/** Four rounds of question and answer without `c` asking to begin again in between: 4 · (timer, ask, answer). */
const rounds = chatter(
  state => ({
    ...(state.flying.length < 6 && { 'a asks': send(state, 'a', 'b', 'ask') }),
    ...(state.flying.length < 6 && { 'c resets': send(state, 'c', 'a', 'reset') }),
  }),
  (state, from, _, text) => {
    if (text === 'ask') return send(state, 'b', 'a', 'answer')
    if (text === 'answer') return advance(state, 'a')
    return text === 'reset' && from === 'c' ? { ...state, progress: {} } : state
  },
)
const threeRounds = always<Chatter>(state => of(state, 'a') < 4)

/** `a` and `b` each move three times, in turn, and say so to the other: 2 · 3 · (timer, message). */
const turns = chatter(
  state => ({
    ...(of(state, 'a') === of(state, 'b') && !isSaid(state, 'b') && { 'a moves': send(state, 'a', 'b', 'moved') }),
    ...(of(state, 'a') > of(state, 'b') && !isSaid(state, 'a') && { 'b moves': send(state, 'b', 'a', 'moved') }),
    ...(state.flying.length < 6 && { 'c looks': send(state, 'c', 'b', 'look') }),
  }),
  (state, from, _, text) => (text === 'moved' && of(state, from) <= 3 ? advance(state, from) : state),
)
const isSaid = ({ flying }: Chatter, from: string) => flying.some(message => message.from === from)
const stillPlays = always<Chatter>(state => of(state, 'b') < 3)

/** Each of three nodes gives up for ever after two lost offers in a row: 3 · 2 · (timer, loss). */
const offers = chatter(
  state =>
    Object.fromEntries(
      ['a', 'b', 'c'].flatMap(who =>
        isSaid(state, who) || of(state, who) === 2 ? [] : [[`${who} offers`, send(state, who, 'd', 'offer')]],
      ),
    ),
  (state, from, _, text) => (text === 'offer' ? advance(state, from, -of(state, from)) : state),
  (state, from, text) => (text === 'offer' ? advance(state, from) : state),
)
const hasGivenUp = (state: Chatter) => ['a', 'b', 'c'].every(who => of(state, who) === 2)
const someoneOffers = eventually<Chatter>(state => !hasGivenUp(state))

/** A walk of at least so many steps to what is bad. */
const walkTo = async (system: Model<Chatter>, isBad: (state: Chatter) => boolean, stepsMin: number) => {
  for (let seed = 1; ; seed++) {
    const executor = new Executor<Chatter>(system, {})
    await executor.reset()
    const chooser = weighted(new Random(seed), { ...defaultWeights, fault: 1, timer: 3 })
    await walk(executor, chooser, 400, () => isBad(system.state()))
    if (isBad(system.state()) && executor.schedule.length >= stepsMin) return executor.labels()
  }
}

const isShort = (schedule: readonly string[]) => schedule.length >= fewest && schedule.length <= allowed

test.each([
  ['four rounds of question and answer', rounds, threeRounds, 261],
  ['two that move in turn', turns, stillPlays, 82],
] as const)('%s: a long schedule is shrunk to a dozen steps', async (_, system, property, stepsMin) => {
  const found = await walkTo(system, state => property.holds(state) === false, stepsMin)
  const { schedule, minimal } = await shrink(system, { property }, found, { kind: 'safety', property: 'property' })
  expect([schedule, minimal]).toEqual([expect.toSatisfy(isShort), true])
})

test('three nodes that give up: a long schedule to a dead state is shrunk to a dozen steps, the last of them critical', async () => {
  const found = await walkTo(offers, hasGivenUp, 66)
  const options = { walks: 5, walkLength: 20 }
  const death = { kind: 'liveness', property: 'someoneOffers' } as const
  const { schedule, criticalTransition } = await shrink(offers, { someoneOffers }, found, death, options)
  expect(schedule).toSatisfy(isShort)
  expect(criticalTransition).toMatchObject({ step: schedule.length, case: 'C1' })
})
