import { z } from 'zod'
import { ignoredFields, refusedFields } from './fields.ts'
import { wordsOf } from './words.ts'

/** The part of the Compose specification that nodes use. All other fields are refused by name. */

/** A line for each unknown field. */
const unsupported = (issue: { readonly code?: string; readonly keys?: unknown }, otherwise: string): string =>
  issue.code === 'unrecognized_keys'
    ? (issue.keys as string[]).map(key => `${key}: is not supported`).join('\n')
    : otherwise

/** Fields that are ignored. */
const accepted = z.unknown().optional()

const text = z.string({ error: 'expected a string' })
/** YAML gives numbers and booleans where strings are meant. */
const scalar = z
  .union([z.string(), z.number(), z.boolean(), z.null()], { error: 'expected a string or a number' })
  .transform(value => (value === null ? undefined : String(value)))

/** A variable gives text also where a number or a truth value is meant. */
const numberOf = (what: string) =>
  z.union(
    [
      z.int().min(1, { error: what }),
      z
        .string()
        .regex(/^[1-9]\d*$/, { error: what })
        .transform(Number),
    ],
    { error: what },
  )
const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform(text => text === 'true')], {
  error: 'expected true or false',
})

const wordsExpected = 'expected a command: a string, or a list of strings'
const words = z
  .union([z.string(), z.array(z.union([z.string(), z.number()]).transform(String))], { error: wordsExpected })
  .transform((value, { addIssue }) => {
    if (typeof value !== 'string') return value
    try {
      return wordsOf(value)
    } catch (error) {
      addIssue({ code: 'custom', message: (error as Error).message })
      return z.NEVER
    }
  })

const list = (what: string) =>
  z.union([text.transform(one => [one]), z.array(text, { error: what })], { error: what }).default([])

const environmentExpected = 'expected variables: an object, or a list of NAME=value'
const environment = z
  .union(
    [
      z.record(z.string(), scalar),
      z
        .array(z.string())
        .transform(lines =>
          Object.fromEntries(
            lines.map(line => line.split(/=(.*)/s) as [string, string?]).map(([name, value]) => [name, value]),
          ),
        ),
    ],
    { error: environmentExpected },
  )
  .default({})

const envFileExpected = 'expected files of variables: a path, or a list of paths or { path, required }'
const envFiles = z
  .union(
    [
      text.transform(path => [{ path, required: true }]),
      z.array(
        z.union([
          z.string().transform(path => ({ path, required: true })),
          z.strictObject({
            path: z.string(),
            required: flag.default(true),
            format: z.literal('raw').optional(),
          }),
        ]),
      ),
    ],
    { error: envFileExpected },
  )
  .default([])

const givenExpected = 'expected names, or objects of { source, target }'
/** What is mounted in a container: a secret or a config. */
const given = z
  .array(
    z.union([
      z.string().transform(source => ({ source, target: undefined })),
      z.strictObject({
        source: z.string(),
        target: z.string().optional(),
        uid: z.unknown().optional(),
        gid: z.unknown().optional(),
        mode: z.unknown().optional(),
      }),
    ]),
    { error: givenExpected },
  )
  .default([])

const buildExpected = 'expected a directory to build, or { context, dockerfile, target, args }'
const build = z
  .union(
    [
      z.string().transform(context => ({ context, dockerfile: undefined, target: undefined, args: {} })),
      z.looseObject({
        context: z.string().default('.'),
        dockerfile: z.string().optional(),
        dockerfile_inline: z.undefined().optional(),
        target: z.string().optional(),
        args: environment,
      }),
    ],
    { error: buildExpected },
  )
  .refine(({ context }) => !/^(\w+:\/\/|git@)/.test(context), { error: buildExpected })

const dependencyExpected = 'expected services: a list of names, or an object of { condition }'
const dependsOn = z
  .union(
    [
      z
        .array(z.string())
        .transform(names =>
          Object.fromEntries(names.map(name => [name, { condition: 'service_started', required: true }])),
        ),
      z.record(
        z.string(),
        z.strictObject({
          condition: z
            .enum(['service_started', 'service_healthy', 'service_completed_successfully'])
            .default('service_started'),
          required: flag.default(true),
          restart: flag.optional(),
        }),
      ),
    ],
    { error: `${dependencyExpected} service_started or service_healthy` },
  )
  .default({})

const portExpected = "expected a port such as 8080 or '8080:80', or { target, published }"
const port = z.union(
  [
    z.number().transform(target => ({ target, published: undefined })),
    z
      .string()
      .regex(/^((([\d.]*|\[[\da-f:]*\]):)?[\d-]*:)?[\d-]+(\/(tcp|udp|sctp))?$/i)
      .transform(short => {
        const [, published, target] = /(?:^|:)(?:([\d-]*):)?([\d-]+)(?:\/\w+)?$/.exec(short)!
        return { target, published: published || undefined }
      }),
    z
      .looseObject({ target: z.coerce.number(), published: z.union([z.string(), z.number()]).optional() })
      .transform(({ target, published }) => ({ target, published: published?.toString() })),
  ],
  { error: portExpected },
)

const volumeExpected = "expected a volume such as 'data:/var/lib/data', './here:/there:ro', or { type, source, target }"
const volume = z.union(
  [
    z
      .string()
      .regex(/^([^:]+:)?\/[^:]*(:(ro|rw|z|Z|r?(private|shared|slave)|cached|delegated|consistent|nocopy|,)+)?$/)
      .transform(short => {
        const [first, target, mode] = short.split(':') as [string, string?, string?]
        return {
          source: target === undefined ? undefined : first,
          target: target ?? first,
          isReadOnly: (mode ?? '').split(',').includes('ro'),
        }
      }),
    z
      .strictObject({
        type: z.enum(['volume', 'bind', 'tmpfs']),
        source: z.string().optional(),
        target: z.string(),
        read_only: flag.default(false),
        consistency: accepted,
        bind: accepted,
        volume: z.strictObject({ nocopy: accepted }).optional(),
        tmpfs: accepted,
      })
      .transform(({ type, source, target, read_only: isReadOnly }) => ({ type, source, target, isReadOnly })),
  ],
  { error: volumeExpected },
)

const checkExpected = "expected a test: a string, or a list that begins with 'CMD', 'CMD-SHELL' or 'NONE'"
const healthcheck = z.looseObject(
  {
    test: z
      .union(
        [
          z.string().transform(command => ['/bin/sh', '-c', command]),
          z.tuple([z.literal('CMD-SHELL'), z.string()]).transform(([, command]) => ['/bin/sh', '-c', command]),
          z.tuple([z.literal('CMD')], z.string()).transform(([, ...command]) => command),
          z.tuple([z.literal('NONE')]).transform(() => undefined),
        ],
        { error: checkExpected },
      )
      .optional(),
    disable: flag.default(false),
  },
  { error: 'expected a health check: { test }' },
)

const scale = numberOf('expected how many containers, at least 1')
const amount = z.union([z.string(), z.number().transform(String)], { error: "expected an amount such as '256m'" })
type Accepted<Names extends string> = Record<Names, typeof accepted>
const ignored = Object.fromEntries(Object.keys(ignoredFields).map(name => [name, accepted])) as Accepted<
  keyof typeof ignoredFields
>
const refused = Object.fromEntries(
  Object.entries(refusedFields).map(([name, why]) => [
    name,
    z.undefined({ error: `is not supported: ${why}` }).optional(),
  ]),
) as unknown as Accepted<keyof typeof refusedFields>

/** Fields of `deploy` that are ignored: nothing is deployed. */
const deployedFields = [
  ...['endpoint_mode', 'labels', 'mode', 'placement', 'restart_policy', 'rollback_config', 'update_config'],
] as const
const withoutMeaning = Object.fromEntries(deployedFields.map(name => [name, accepted])) as Accepted<
  (typeof deployedFields)[number]
>

const networksExpected = 'expected networks: a list of names, or an object of { aliases }'
const networks = z
  .union(
    [
      z.array(z.string()).transform(() => [] as string[]),
      z
        .record(z.string(), z.looseObject({ aliases: z.array(z.string()).default([]) }).nullable())
        .transform(named => Object.values(named).flatMap(network => network?.aliases ?? [])),
    ],
    { error: networksExpected },
  )
  .optional()

const service = z.strictObject(
  {
    image: text.optional(),
    build: build.optional(),
    command: words.nullish(),
    entrypoint: words.nullish(),
    environment,
    env_file: envFiles,
    profiles: z.array(z.string(), { error: 'expected names of profiles' }).default([]),
    secrets: given,
    configs: given,
    depends_on: dependsOn,
    ports: z.array(port, { error: 'expected a list of ports' }).default([]),
    volumes: z.array(volume, { error: 'expected a list of volumes' }).default([]),
    tmpfs: list('expected paths'),
    healthcheck: healthcheck.optional(),
    scale: scale.optional(),
    user: scalar.optional(),
    working_dir: text.optional(),
    read_only: flag.default(false),
    mem_limit: amount.optional(),
    pids_limit: numberOf('expected how many processes').optional(),
    shm_size: amount.optional(),
    pull_policy: z
      .string()
      .regex(/^(never|missing|if_not_present|always|build|daily|weekly|every_\w+)$/, {
        error: "expected 'never', 'missing', 'always' or 'build'",
      })
      .optional(),
    deploy: z
      .strictObject(
        {
          replicas: scale.optional(),
          resources: z
            .looseObject({
              limits: z
                .looseObject({ memory: amount.optional(), pids: numberOf('expected a number').optional() })
                .optional(),
            })
            .optional(),
          ...withoutMeaning,
        },
        { error: issue => unsupported(issue, 'expected { replicas, resources }') },
      )
      .default({}),
    container_name: text.optional(),
    networks,
    network_mode: z
      .enum(['bridge', 'default'], { error: 'is not supported: a node has a network of its own' })
      .optional(),
    platform: z.enum(['', 'linux', 'linux/amd64', 'linux/x86_64'], { error: "expected 'linux/amd64'" }).optional(),
    ...ignored,
    ...refused,
  },
  { error: issue => unsupported(issue, 'expected a service: { image, … }') },
)

const declaredVolumes = z
  .record(
    z.string(),
    z
      .strictObject(
        {
          name: text.optional(),
          labels: accepted,
          external: flag.optional(),
          driver_opts: z
            .undefined({ error: 'is not supported: a volume is the node’s own disk, and begins empty' })
            .optional(),
          driver: z.literal('local', { error: "expected 'local'" }).optional(),
        },
        { error: issue => unsupported(issue, 'expected a volume') },
      )
      .nullable(),
  )
  .nullish()

/** Secrets and configs are files beside the compose file. */
const declaredFiles = z
  .record(
    z.string(),
    z.strictObject(
      { file: z.string({ error: 'expected a file' }), name: accepted, labels: accepted },
      { error: issue => unsupported(issue, 'expected { file }') },
    ),
  )
  .default({})

const includeExpected = 'expected compose files: paths, or { path, project_directory, env_file }'
const include = z
  .array(
    z.union([
      z.string().transform(path => ({ path, project_directory: undefined, env_file: undefined })),
      z.strictObject({
        path: z.string(),
        project_directory: z.string().optional(),
        env_file: z.union([z.string().transform(file => [file]), z.array(z.string())]).optional(),
      }),
    ]),
    { error: includeExpected },
  )
  .default([])

export const composeSchema = z.strictObject(
  {
    name: text.optional(),
    version: accepted,
    include,
    services: z.record(z.string(), service, { error: 'expected the services by name' }).default({}),
    volumes: declaredVolumes,
    secrets: declaredFiles,
    configs: declaredFiles,
    networks: accepted,
  },
  { error: issue => unsupported(issue, 'expected a compose file: { services }') },
)

export type Compose = z.output<typeof composeSchema>
export type ComposeService = Compose['services'][string]
