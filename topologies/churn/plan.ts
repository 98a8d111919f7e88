import { z } from 'zod'
import {
  type AnyHappening,
  type Manner,
  manners,
  namesIn,
  plain,
  type Scripted,
  type Value,
} from '../../checker/happening/happenings.ts'
import { firstProblems, inWords, TopologyError } from '../error.ts'
import { parseJson } from '../formats/json.ts'
import { jumpMsMax } from '../formats/units.ts'
import { checkBy, expected, fields, milliseconds, text } from '../schema.ts'
import { strikeShape } from '../strike-shape.ts'

/** Who joins and leaves while a service runs, decided beforehand: the same plan gives the same churn. */
export interface ChurnPlan {
  readonly nodes: readonly string[]
  /** Nodes that are present from the start. */
  readonly initial: readonly string[]
  /** In order of time. */
  readonly events: readonly ChurnEvent[]
}

/** Times are milliseconds from the start. */
export type ChurnEvent = { readonly atMs: number } & Extract<AnyHappening, { readonly does: Scripted }>

export { type Manner, manners }

const names = z.array(text, expected('a list of nodes'))
const values = {
  node: text,
  word: text,
  manner: z.enum(manners, expected(inWords(manners))),
  jump: z.number(expected('milliseconds')).min(-jumpMsMax).max(jumpMsMax),
  groups: z.array(names, expected('a list of groups')).min(1),
  ...strikeShape(text),
} satisfies Record<Value, z.ZodType>

/** What a plan may have, with how a script says it. */
export const scripted = plain.filter(({ script }) => script !== undefined)

const events = scripted.map(({ does, takes }) => {
  const said = Object.entries(takes).map(([name, value]) => [name, values[value]])
  return fields({ atMs: milliseconds, does: z.literal(does), ...Object.fromEntries(said) }, `a ${does}`)
})
const event = z.discriminatedUnion('does', events as [(typeof events)[0], ...typeof events], {
  error: `expected an event that does ${inWords(scripted.map(({ does }) => does))}`,
}) as unknown as z.ZodType<ChurnEvent>

const plan: z.ZodType<ChurnPlan> = fields(
  { nodes: names, initial: names, events: z.array(event, expected('a list of events')) },
  'a plan: { nodes, initial, events }',
)

/** Validates a plan. Throws a `TopologyError` with the field that is wrong. */
export const checkPlan = (value: unknown): ChurnPlan => {
  const checked = checkBy(plan, value)
  const problems = problemsIn(checked)
  if (problems.length > 0) throw new TopologyError(firstProblems(problems))
  return checked
}

/** Reads a plan from its JSON. Throws a `TopologyError`. */
export const readPlan = (json: string): ChurnPlan => checkPlan(parseJson(json))

/** Merges plans for the same nodes and start. Throws a `TopologyError` if they contradict each other. */
export const mergePlans = (first: ChurnPlan, ...others: readonly ChurnPlan[]): ChurnPlan => {
  const events = [first, ...others].flatMap(({ events }) => events)
  return checkPlan({ ...first, events: events.sort((one, other) => one.atMs - other.atMs) })
}

const problemsIn = ({ nodes, initial, events }: ChurnPlan): string[] => {
  const known = new Set(nodes)
  const present = new Set(initial)
  const strangers = (where: string, named: readonly string[]) =>
    named.filter(name => !known.has(name)).map(name => `${where}: there is no node "${name}"`)
  const problems = strangers('initial', initial)
  for (const [index, event] of events.entries()) {
    const where = `events[${index}]`
    if (event.atMs < (events[index - 1]?.atMs ?? 0)) problems.push(`${where}: expected events in the order of time`)
    problems.push(...strangers(where, namesIn(event)))
    if (event.does === 'join' || event.does === 'leave') {
      const isThere = present.has(event.node)
      if (isThere === (event.does === 'join'))
        problems.push(`${where}: "${event.node}" cannot ${event.does}, it is ${isThere ? 'there' : 'away'}`)
      if (event.does === 'join') present.add(event.node)
      else present.delete(event.node)
    }
  }
  return problems
}
