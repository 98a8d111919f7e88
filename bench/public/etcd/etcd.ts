import { always, type GlobalState, type NodeHandle } from 'lastnail'
import { etcdMembers } from '../../services/programs/etcd-members.ts'

/** Members of these names, each with its own defaults beside these options. */
export const members = (names: readonly string[], options: readonly string[] = [], processors = 1) =>
  etcdMembers(`${process.env.SITE ?? '.'}/etcd`, names, options, { GOMAXPROCS: `${processors}` })

const base64 = (text: string) => Buffer.from(text).toString('base64')
const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString()

interface Answer {
  readonly header: { readonly revision: string }
}

/** Asks the JSON gateway of a member, which answers with 200 or fails. */
const ask = async <T extends Answer>(node: NodeHandle, path: string, asked: object): Promise<T> => {
  const { statusCode, body } = await node.http(2379, path, { method: 'POST', body: JSON.stringify(asked) })
  const answer = (await body.json()) as T & { readonly error?: string }
  if (statusCode !== 200) throw new Error(answer.error ?? `${statusCode}`)
  return answer
}

/** What a call returns: what was done, and the revision of the store after it. */
export interface Done {
  readonly op: 'put' | 'delete' | 'get' | 'compact' | 'defragment' | 'txn'
  readonly revision: number
}

const done = (op: Done['op'], { header }: Answer): Done => ({ op, revision: Number(header.revision) })

export const put = async (node: NodeHandle, key: string, value: string) =>
  done('put', await ask(node, '/v3/kv/put', { key: base64(key), value: base64(value) }))

export const remove = async (node: NodeHandle, key: string) =>
  done('delete', await ask(node, '/v3/kv/deleterange', { key: base64(key) }))

/** A linearizable read: the value, or null. */
export const get = async (node: NodeHandle, key: string) => {
  const answer = await ask<Answer & { readonly kvs?: readonly { readonly value: string }[] }>(node, '/v3/kv/range', {
    key: base64(key),
  })
  const [found] = answer.kvs ?? []
  return { ...done('get', answer), value: found ? fromBase64(found.value) : null }
}

/** Forgets what is older than the present revision. */
export const compact = async (node: NodeHandle) => {
  const { revision } = await get(node, 'x')
  await ask(node, '/v3/kv/compaction', { revision })
  return { op: 'compact', revision } as Done
}

export const defragment = async (node: NodeHandle) => {
  await ask(node, '/v3/maintenance/defragment', {})
}

/** Reads at a revision, and writes if that succeeded: one transaction. */
export const readThenPut = async (node: NodeHandle, revision: number) =>
  done(
    'txn',
    await ask(node, '/v3/kv/txn', {
      success: [
        { request_range: { key: base64('x'), revision } },
        { request_put: { key: base64('y'), value: base64('1') } },
      ],
    }),
  )

/** What a member says of its own store. */
export interface Member {
  readonly revision: number
  /** Index of the last entry of the log that it has applied. */
  readonly applied: string
}

/** Undefined before it serves clients: until then a request would wait. */
export const status = async (node: NodeHandle): Promise<Member | undefined> => {
  if (!node.output().stderr.includes('ready to serve client requests')) return undefined
  const { header, raftAppliedIndex } = await ask<Answer & { readonly raftAppliedIndex: string }>(
    node,
    '/v3/maintenance/status',
    {},
  )
  return { revision: Number(header.revision), applied: raftAppliedIndex }
}

/** What a watch was told, in the order in which it was told. */
export interface Watched {
  readonly from: number
  readonly told: readonly ({ readonly event: number } | { readonly progress: number })[]
}

interface WatchAnswer {
  readonly result: Answer & {
    readonly created?: boolean
    readonly canceled?: boolean
    readonly compact_revision?: string
    readonly events?: readonly { readonly kv: { readonly mod_revision: string } }[]
  }
}

/**
 * Watches all keys from a revision, asks how far the watch has come, and reads until an event of the revision `to` or a later one. If `from` was
 * compacted, it watches from the revision that it is told instead.
 */
export const watch = async (node: NodeHandle, from: number, to: number): Promise<Watched> => {
  const all = { key: base64('\0'), range_end: base64('\0') }
  const asked = [{ create_request: { ...all, start_revision: from } }, { progress_request: {} }]
  const { body } = await node.http(2379, '/v3/watch', {
    method: 'POST',
    body: asked.map(request => JSON.stringify(request)).join('\n'),
  })
  const told: Watched['told'][number][] = []
  for await (const { result } of lines<WatchAnswer>(body)) {
    if (result.compact_revision) return watch(node, Number(result.compact_revision), to)
    if (result.created) continue
    const events = result.events ?? []
    for (const { kv } of events) told.push({ event: Number(kv.mod_revision) })
    if (events.length === 0) told.push({ progress: Number(result.header.revision) })
    if (told.some(one => 'event' in one && one.event >= to)) break
  }
  return { from, told }
}

/** Objects of JSON, one a line. */
const lines = async function* <T>(body: AsyncIterable<Buffer>): AsyncIterable<T> {
  let rest = ''
  for await (const chunk of body) {
    const [...whole] = (rest + chunk.toString()).split('\n')
    rest = whole.pop()!
    for (const line of whole) if (line !== '') yield JSON.parse(line) as T
  }
}

/** What calls returned that have returned, with when they began and ended. */
const returned = ({ calls }: GlobalState) =>
  calls.flatMap(({ value, invokedAt, completedAt }) =>
    completedAt === undefined || typeof value !== 'object' || value === null
      ? []
      : [{ value: value as Done & Partial<Watched>, invokedAt, completedAt }],
  )

/** Of two calls one after the other, the later one sees no older store. */
export const revisionGrows = always((s: GlobalState) => {
  const done = returned(s).filter(({ value }) => value.revision !== undefined)
  return done.every(later =>
    done.every(({ value, completedAt }) => completedAt >= later.invokedAt || value.revision <= later.value.revision),
  )
})

/** The store begins at revision 1, and each write makes one more. */
export const appliedOnce = always((s: GlobalState) => {
  const writes = s.calls.filter(({ client }) => /^(put|delete)/.test(client))
  return returned(s).every(
    ({ value, completedAt }) =>
      value.revision === undefined ||
      value.revision <= 1 + writes.filter(({ invokedAt }) => invokedAt <= completedAt).length,
  )
})

/** What a member tells of all its revisions, up to one that is made now. */
export const watchUntilNow = async (node: NodeHandle): Promise<Watched> => {
  const { revision } = await put(node, 'last', '')
  return watch(node, 2, revision)
}

/** Calls of the client `watch` that have ended. */
export const watched = ({ calls }: GlobalState): readonly Watched[] =>
  calls.flatMap(({ client, value }) => (client === 'watch' && value ? [value as Watched] : []))

/** Every write that was acknowledged is an event of every watch from before it. */
export const nothingMissed = always((s: GlobalState) => {
  const writes = returned(s).flatMap(({ value: { op, revision } }) =>
    (op === 'put' || op === 'delete') && revision > 1 ? [revision] : [],
  )
  return watched(s).every(({ from, told }) => {
    const events = told.flatMap(one => ('event' in one ? [one.event] : []))
    return writes.every(revision => revision < from || revision > events.at(-1)! || events.includes(revision))
  })
})
