import { z } from 'zod'
import { shortened, TopologyError } from '../error.ts'
import { parseJson } from '../formats/json.ts'
import { checkBy, expected, fields, milliseconds, text } from '../schema.ts'

/** Who joins and leaves while a service runs, decided beforehand: the same plan gives the same churn. */
export interface ChurnPlan {
  readonly nodes: readonly string[]
  /** Nodes that are present from the start. */
  readonly initial: readonly string[]
  /** In order of time. */
  readonly events: readonly ChurnEvent[]
}

/** Times are milliseconds from the start. */
export type ChurnEvent =
  | { readonly atMs: number; readonly does: 'join'; readonly node: string }
  | { readonly atMs: number; readonly does: 'leave'; readonly node: string; readonly manner: Manner }
  /** Only nodes of the same group reach each other. Nodes without a group form another one. */
  | { readonly atMs: number; readonly does: 'partition'; readonly groups: readonly (readonly string[])[] }
  | { readonly atMs: number; readonly does: 'heal' }

/** `stop` asks the process to end, `kill` ends it, `cut` takes away its links and lets it run. */
export type Manner = 'stop' | 'kill' | 'cut'

export const manners = ['stop', 'kill', 'cut'] as const satisfies readonly Manner[]

const atMs = { atMs: milliseconds }
const names = z.array(text, expected('a list of nodes'))
const event = z.discriminatedUnion(
  'does',
  [
    fields({ ...atMs, does: z.literal('join'), node: text }, 'a join'),
    fields(
      { ...atMs, does: z.literal('leave'), node: text, manner: z.enum(manners, expected('stop, kill or cut')) },
      'a leave',
    ),
    fields(
      { ...atMs, does: z.literal('partition'), groups: z.array(names, expected('a list of groups')).min(1) },
      'a partition',
    ),
    fields({ ...atMs, does: z.literal('heal') }, 'a heal'),
  ],
  { error: 'expected an event that does join, leave, partition or heal' },
)

const plan: z.ZodType<ChurnPlan> = fields(
  { nodes: names, initial: names, events: z.array(event, expected('a list of events')) },
  'a plan: { nodes, initial, events }',
)

/** Validates a plan. Throws a `TopologyError` with the field that is wrong. */
export const checkPlan = (value: unknown): ChurnPlan => {
  const checked = checkBy(plan, value)
  const problems = problemsIn(checked)
  if (problems.length > 0) throw new TopologyError(shortened(problems))
  return checked
}

/** Reads a plan from its JSON. Throws a `TopologyError`. */
export const readPlan = (json: string): ChurnPlan => checkPlan(parseJson(json))

/** JSON with a line for each event. */
export const writePlan = ({ nodes, initial, events }: ChurnPlan): string => {
  const lines = events.map(each => JSON.stringify(each)).join(',\n')
  return `{"nodes":${JSON.stringify(nodes)},\n"initial":${JSON.stringify(initial)},\n"events":[\n${lines}\n]}\n`
}

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
    if (event.does === 'partition') problems.push(...strangers(where, event.groups.flat()))
    if (event.does === 'join' || event.does === 'leave') {
      problems.push(...strangers(where, [event.node]))
      const isThere = present.has(event.node)
      if (isThere === (event.does === 'join'))
        problems.push(`${where}: "${event.node}" cannot ${event.does}, it is ${isThere ? 'there' : 'away'}`)
      if (event.does === 'join') present.add(event.node)
      else present.delete(event.node)
    }
  }
  return problems
}
