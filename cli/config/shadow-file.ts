import { createRequire } from 'node:module'
import { z } from 'zod'
import { wordsOf } from '../../docker/compose/words.ts'
import { ConfigError } from '../../harness/config/config.ts'
import { parseTime } from '../../topologies/formats/units.ts'

const require = createRequire(import.meta.url)
/** Loaded only for a file in YAML. */
const yaml = (): typeof import('yaml') => require('yaml')

const timeExpected = 'expected a time such as 3 s or 2 min'
const time = z.union([z.number(), z.string()], { error: timeExpected }).transform((value, { addIssue }) => {
  const ms = parseTime(String(value))
  if (ms === undefined) addIssue(`${timeExpected}, found ${JSON.stringify(value)}`)
  return ms ?? 0
})

const words = z.union([z.string().transform(wordsIn), z.array(z.string())], { error: 'expected arguments' })

function wordsIn(text: string, { addIssue }: z.RefinementCtx): string[] {
  try {
    return wordsOf(text)
  } catch (error) {
    addIssue((error as Error).message)
    return []
  }
}

const finalState = z.union(
  [
    z.literal('running'),
    z.strictObject({ exited: z.int() }),
    z.strictObject({ signaled: z.union([z.string(), z.int()]) }),
  ],
  { error: 'expected running, exited: CODE or signaled: NAME' },
)

/** Of older files: how many that are alike. */
const quantity = z.int({ error: 'expected how many, at least 1' }).min(1).default(1)

const processShape = z.strictObject({
  path: z.string({ error: 'expected the path of a program' }),
  quantity,
  args: words.default([]),
  environment: z.record(z.string(), z.coerce.string()).default({}),
  expected_final_state: finalState.default({ exited: 0 }),
  shutdown_signal: z.union([z.string(), z.int()]).default('SIGTERM'),
  shutdown_time: time.nullable().default(null),
  start_time: time.default(0),
  // Of older files: when it is killed.
  stop_time: time.nullable().default(null),
})

const hostShape = z.strictObject({
  network_node_id: z.int({ error: 'expected the number of a node of the graph' }),
  quantity,
  processes: z.array(processShape, { error: 'expected a list of processes' }).default([]),
  bandwidth_down: z.unknown().optional(),
  bandwidth_up: z.unknown().optional(),
  host_options: z.unknown().optional(),
  options: z.unknown().optional(),
  ip_addr: z.unknown().optional(),
})

const graphShape = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('1_gbit_switch') }),
    z.strictObject({
      type: z.literal('gml'),
      inline: z.string().optional(),
      // Of older files.
      path: z.string().optional(),
      file: z
        .strictObject({
          path: z.string(),
          compression: z.null({ error: 'expected a file without compression' }).optional(),
        })
        .optional(),
    }),
  ],
  { error: 'expected the type gml or 1_gbit_switch' },
)

const shadowShape = z.looseObject({
  general: z.looseObject({ stop_time: time }),
  network: z.strictObject({ graph: graphShape, use_shortest_path: z.boolean().default(true) }),
  hosts: z.record(z.string(), hostShape, { error: 'expected hosts by name' }),
})

/** A configuration of the Shadow simulator, as its specification has it, with what is used of it here. Times are milliseconds. */
export type ShadowFile = z.output<typeof shadowShape>
export type ShadowHost = ShadowFile['hosts'][string]

/** The hosts of a file with what older ones say otherwise: each of several that are alike by itself, `peer1`, `peer2`. */
const withoutOlder = (file: ShadowFile): ShadowFile => {
  const hosts = Object.entries(file.hosts).flatMap(([name, { quantity, ...host }]) => {
    const processes = host.processes.flatMap(({ quantity: many, stop_time: stop, ...process }) => {
      const one = { ...process, ...(stop !== null && { shutdown_time: stop, shutdown_signal: 'SIGKILL' }) }
      return Array.from({ length: many }, () => ({ ...one, quantity: 1, stop_time: null }))
    })
    const one = { ...host, quantity: 1, processes }
    if (quantity === 1) return [[name, one] as const]
    return Array.from({ length: quantity }, (_, index) => [`${name}${index + 1}`, one] as const)
  })
  return { ...file, hosts: Object.fromEntries(hosts) }
}

/** Whether the content of a file in YAML is a configuration of Shadow: it has hosts, where a compose file has services. */
export const isShadow = (text: string): boolean => /^hosts:/m.test(text) && /^network:/m.test(text)

/** @throws ConfigError with a line for each problem */
export const parseShadow = (path: string, text: string): ShadowFile => {
  const document = yaml().parseDocument(text, { merge: true })
  if (document.errors.length > 0)
    throw new ConfigError(document.errors.map(({ message }) => `${path}: ${message.split('\n')[0]}`))
  const { success, data, error } = shadowShape.safeParse(document.toJS({ maxAliasCount: -1 }))
  if (success) return withoutOlder(data)
  throw new ConfigError(
    error.issues.map(
      ({ path: field, message }) => `${path}: ${field.length > 0 ? `${z.core.toDotPath(field)}: ` : ''}${message}`,
    ),
  )
}
