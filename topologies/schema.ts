import { z } from 'zod'
import { crossProblem } from './cross.ts'
import { firstProblems, TopologyError } from './error.ts'
import { millisecondsSchema as millisecondsOf, pipeShape as shapeOfPipe, type Wording } from './pipe-shape.ts'
import { linkClasses, type Pipe, roles, type Topology } from './topology.ts'

/** Validates topologies. Messages say what was expected and found; `problemsOf` adds where. */

export const expected = (what: string) => ({
  error: ({ input }: { readonly input?: unknown }) => `expected ${what}, found ${show(input)}`,
})

export const fields = <Shape extends z.ZodRawShape>(shape: Shape, what: string) =>
  z.strictObject(shape, {
    error: ({ code, keys, input }) =>
      code === 'unrecognized_keys'
        ? `unknown field ${keys.map(key => `"${key}"`).join(', ')}: there are ${Object.keys(shape).join(', ')}`
        : expected(what).error({ input }),
  })

const oneOf = <Values extends readonly string[]>(values: Values) =>
  z.enum(values, expected(`one of ${values.join(', ')}`))

export const text = z.string(expected('a string')).min(1, expected('a string that is not empty'))
const finite = z.number(expected('a number'))
const wording: Wording = { say: expected, fields }
export const milliseconds = millisecondsOf(wording)
const pipeShape = shapeOfPipe(wording)
const checkCross = ({ value, issues }: z.core.ParsePayload<Pick<Pipe, 'bandwidth' | 'queue' | 'cross'>>) => {
  const message = crossProblem(value)
  if (message !== undefined) issues.push({ code: 'custom', path: ['cross'], message, input: undefined })
}
const pipe = fields(pipeShape, 'a pipe: { delayMs, … }').check(checkCross)
const waysShape = { ...pipeShape, back: pipe.nullable().exactOptional() }

const node = fields(
  {
    id: text,
    role: oneOf(roles),
    at: z.tuple([finite, finite], expected('a place: [x, y]')).exactOptional(),
    label: text.exactOptional(),
    access: fields(waysShape, 'the ways of a link: { delayMs, … }').check(checkCross).exactOptional(),
  },
  'a node: { id, role, … }',
)

const link = fields(
  { from: text, to: text, class: oneOf(linkClasses), ...waysShape },
  'a link: { from, to, class, delayMs, … }',
).check(checkCross)

/** A topology, with its nodes and the links between them. */
export const topologyShape = fields(
  {
    name: text.exactOptional(),
    nodes: z.array(node, expected('a list of nodes')).min(1, expected('at least one node')),
    links: z.array(link, expected('a list of links')),
  },
  'a topology: { nodes, links }',
).check(({ value: { nodes, links }, issues }) => {
  const problem = (path: (string | number)[], message: string) =>
    issues.push({ code: 'custom', path, message, input: undefined })
  const ids = new Set<string>()
  for (const [index, { id }] of nodes.entries()) {
    if (ids.has(id)) problem(['nodes', index, 'id'], `there is a node "${id}" before this one`)
    ids.add(id)
  }
  for (const [index, { from, to }] of links.entries()) {
    if (!ids.has(from)) problem(['links', index, 'from'], `there is no node "${from}"`)
    if (!ids.has(to)) problem(['links', index, 'to'], `there is no node "${to}"`)
    if (from === to) problem(['links', index], `expected a link between two nodes, found one from "${to}" to itself`)
  }
})

/** Validates a topology. Throws a `TopologyError` with a line for each problem: field, expected, found. */
export const checkTopology = (value: unknown): Topology => checkBy(topologyShape, value)

/** Validates a value by a schema. Throws a `TopologyError` of up to ten lines. */
export const checkBy = <T>(schema: z.ZodType<T>, value: unknown): T => {
  const { success, data, error } = schema.safeParse(value)
  if (success) return data
  const problems = error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${z.core.toDotPath(path)}: ${message}`,
  )
  throw new TopologyError(firstProblems(problems))
}

const show = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
