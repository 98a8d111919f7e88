import { join } from 'node:path'
import { get as getOfEtcd, members, put as putInEtcd } from '../../examples/etcd/etcd.ts'
import { redis } from '../../examples/redis/redis.ts'
import {
  always,
  type ClientCall,
  type DiskModel,
  defineSystem,
  type GlobalState,
  jsonLines,
  type NodeDefinition,
  type NodeHandle,
  type SystemDefinition,
} from '../../harness/config/config.ts'
import { fetched } from '../services/fetched.ts'
import { query } from '../services/programs/postgres.ts'

/** A store with a setting, and how its words are kept and looked for. */
export interface Store {
  readonly name: string
  readonly needs: readonly string[]
  /** What its documentation says of a power failure. */
  readonly promises: string
  readonly nodes: (root: string) => Readonly<Record<string, NodeDefinition>>
  readonly put: (nodes: Nodes, word: string) => Promise<unknown>
  /** Looks at one node. Rejects while that cannot answer. Absent if the node prints what it holds. */
  readonly look?: (node: NodeHandle) => Promise<Seen>
}

type Nodes = Readonly<Record<string, NodeHandle>>

/** The words that a store holds, or what it says is wrong with it. */
type Seen = { readonly words: readonly string[] } | { readonly broken: string }

const libraries = () =>
  fetched('power', [['pip', 'install', '--quiet', '--no-deps', '--target', '.', 'plyvel==1.5.1', 'lmdb==3.0.0']])

const embedded = (kind: string, setting: string, promises: string): Store => ({
  name: `${kind} ${setting}`,
  needs: kind === 'sqlite' ? ['python3'] : ['python3', 'pip'],
  promises,
  nodes: root => ({
    store: {
      command: ['python3', join(root, 'bench/power/embedded.py'), kind === 'sqlite' ? '' : libraries(), kind, setting],
      env: { PYTHONDONTWRITEBYTECODE: '1' },
      listens: 8080,
    },
  }),
  put: async ({ store }, word) => {
    const { statusCode, body } = await store!.http(8080, `/${word}`, { method: 'PUT' })
    await body.text()
    if (statusCode !== 200) throw new Error(String(statusCode))
  },
})

const redisWith = (appendfsync: string, promises: string): Store => ({
  name: `redis ${appendfsync}`,
  needs: ['redis-server'],
  promises,
  nodes: () => ({
    store: {
      command: [
        ...['redis-server', '--bind', '0.0.0.0', '--protected-mode', 'no', '--save', '', '--dir', '/var/tmp'],
        ...['--appendonly', 'yes', '--appendfsync', appendfsync],
      ],
      listens: 6379,
    },
  }),
  put: ({ store }, word) => redis(store!, 'SET', word, 'text'),
  look: async node => ({ words: (await redis(node, 'KEYS', '*')) as string[] }),
})

const bin = '/usr/lib/postgresql/15/bin'
const cluster = () =>
  fetched('power-postgres', [
    ['chown', 'postgres', '.'],
    ['runuser', '-u', 'postgres', '--', `${bin}/initdb`, '--auth=trust', 'data'],
    ['sh', '-c', 'echo host all all all trust >> data/pg_hba.conf'],
    [
      'sh',
      '-c',
      `echo 'create table words(word text primary key)' | runuser -u postgres -- ${bin}/postgres --single -D data postgres`,
    ],
  ])

const postgres = (fsync: string, promises: string): Store => ({
  name: `postgresql fsync ${fsync}`,
  needs: [`${bin}/postgres`, 'setpriv'],
  promises,
  nodes: () => ({
    store: {
      command: [
        ...['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', `${bin}/postgres`],
        ...['-D', join(cluster(), 'data'), '-c', 'listen_addresses=*', '-c', `fsync=${fsync}`],
      ],
      listens: 5432,
    },
  }),
  put: async ({ store }, word) => {
    const said = await query(store!, `insert into words values ('${word}') returning word`)
    if (!said.includes(word)) throw new Error(said)
  },
  look: async node => {
    const said = await query(node, 'select word from words')
    if (said.includes('ERROR')) return { broken: said }
    return { words: [...said.matchAll(/w\d+/g)].map(([word]) => word) }
  },
})

const etcd = (setting: string, promises: string): Store => ({
  name: `etcd ${setting}`,
  needs: ['etcd'],
  promises,
  nodes: () =>
    Object.fromEntries(
      Object.entries(members()).map(([name, { command, ...rest }]) => [
        name,
        { ...rest, command: [...command, ...(setting === 'unsafe-no-fsync' ? ['--unsafe-no-fsync'] : [])] },
      ]),
    ),
  put: ({ n1 }, word) => putInEtcd(n1!, word, 'text'),
  look: async node => {
    const values = await Promise.all(
      ['w1', 'w2'].map(async word => ((await getOfEtcd(node, word)) === null ? [] : [word])),
    )
    return { words: values.flat() }
  },
})

export const stores: readonly Store[] = [
  embedded('sqlite', 'wal-FULL', 'nothing is lost'),
  embedded('sqlite', 'wal-NORMAL', 'commits may be lost, none is broken'),
  embedded('sqlite', 'wal-OFF', 'may become corrupt'),
  embedded('sqlite', 'delete-EXTRA', 'nothing is lost'),
  embedded('sqlite', 'delete-FULL', 'the last commit may be undone, none is broken'),
  embedded('sqlite', 'delete-OFF', 'may become corrupt'),
  embedded('leveldb', 'sync', 'nothing is lost'),
  embedded('leveldb', 'async', 'the last writes may be lost'),
  embedded('lmdb', 'sync', 'nothing is lost'),
  embedded('lmdb', 'nometasync', 'the last transaction may be lost'),
  embedded('lmdb', 'nosync', 'may become corrupt'),
  embedded('lmdb', 'writemap', 'nothing is lost'),
  embedded('lmdb', 'writemap-nosync', 'may become corrupt'),
  redisWith('always', 'nothing is lost'),
  redisWith('everysec', 'a second of writes may be lost'),
  postgres('on', 'nothing is lost'),
  postgres('off', 'may become corrupt'),
  etcd('fsync', 'nothing is lost'),
  etcd('unsafe-no-fsync', 'may lose or corrupt data'),
]

/** What a power failure may take: what was acknowledged, or all of it. */
export const properties = {
  nothingLost: always<GlobalState>(state =>
    seenIn(state).every(
      ({ seen, at }) =>
        'broken' in seen || acknowledgedBefore(state.calls, at).every(word => seen.words.includes(word)),
    ),
  ),
  intact: always<GlobalState>(state => seenIn(state).every(({ seen }) => !('broken' in seen))),
} as const

/** A system with one failure of its power. Of three nodes, two may lose it, and the third one is asked for what they have. */
export const systemOf = (
  store: Store,
  root: string,
  { model, property }: { readonly model: DiskModel; readonly property: keyof typeof properties },
): SystemDefinition => {
  const { look } = store
  const nodes = store.nodes(root)
  const last = Object.keys(nodes).at(-1)!
  return defineSystem({
    name: store.name.replaceAll(/\W+/g, '-'),
    nodes,
    state: jsonLines('stdout'),
    clients: {
      put: { run: (nodes, { ordinal }) => store.put(nodes, `w${ordinal}`), times: 2 },
      ...(look && { look: { run: nodes => look(nodes[last]!), times: 2 } }),
    },
    properties: { [property]: properties[property] },
    faults: { power: Object.keys(nodes).length === 1 ? 1 : 2 },
    disk: { model },
    overlap: 0,
  })
}

/** What was seen, and in which step it was asked for. */
const seenIn = ({ nodes, calls }: GlobalState): { readonly seen: Seen; readonly at: number }[] => [
  ...nodes.flatMap(({ state }) => (state ? [{ seen: state as Seen, at: Number.POSITIVE_INFINITY }] : [])),
  ...calls.flatMap(({ client, value, invokedAt }) =>
    client === 'look' && value ? [{ seen: value as Seen, at: invokedAt }] : [],
  ),
]

const acknowledgedBefore = (calls: readonly ClientCall[], step: number): string[] =>
  calls.flatMap(({ client, completedAt, error, ordinal }) =>
    client === 'put' && error === undefined && completedAt !== undefined && completedAt < step ? [`w${ordinal}`] : [],
  )
