import type { NodeHandle } from 'lastnail'

/** What a member of the cluster shows of itself. */
export interface Member {
  readonly role: string
  readonly term: number
}

const port = 2379

/** Asks the JSON gateway of a member, which answers with 200 or fails. */
export const ask = async (node: NodeHandle, path: string, asked: object): Promise<Record<string, unknown>> => {
  const { statusCode, body } = await node.http(port, path, { method: 'POST', body: JSON.stringify(asked) })
  const answer = (await body.json()) as Record<string, unknown>
  if (statusCode !== 200) throw new Error(String(answer.error ?? answer.message ?? statusCode))
  return answer
}

const base64 = (text: string) => Buffer.from(text).toString('base64')
const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString()

export const put = (node: NodeHandle, key: string, value: string) =>
  ask(node, '/v3/kv/put', { key: base64(key), value: base64(value) })

/** A linearizable read: the value, or null. */
export const get = async (node: NodeHandle, key: string): Promise<string | null> => {
  const { kvs = [] } = (await ask(node, '/v3/kv/range', { key: base64(key) })) as { kvs?: { value: string }[] }
  return kvs[0] ? fromBase64(kvs[0].value) : null
}

/** Waits for the lock, and has it under a lease of so many seconds that nobody renews; gives the key of the lock. */
export const lock = async (node: NodeHandle, name: string, seconds: number): Promise<string> => {
  const { ID } = (await ask(node, '/v3/lease/grant', { TTL: seconds })) as { ID: string }
  const { key } = (await ask(node, '/v3/lock/lock', { name: base64(name), lease: ID })) as { key: string }
  return key
}

export const unlock = (node: NodeHandle, key: string) => ask(node, '/v3/lock/unlock', { key })

/** What a member has logged last of its part; before there is a leader it answers nobody. */
export const observe = (node: NodeHandle): Member => {
  const parts = [...node.output().stderr.matchAll(/became (follower|pre-candidate|candidate|leader) at term (\d+)/g)]
  const [, role = 'none', term = '0'] = parts.at(-1) ?? []
  return { role, term: Number(term) }
}

/** Three members, each as Debian packages it. Go uses one processor: what runs on several does not repeat. */
export const members = () => {
  const names = ['n1', 'n2', 'n3']
  const cluster = names.map(name => `${name}=http://{{${name}.address}}:2380`).join(',')
  return Object.fromEntries(names.map(name => [name, member(name, cluster)]))
}

const member = (name: string, cluster: string) => {
  const [peer, client] = [`http://{{${name}.address}}:2380`, `http://{{${name}.address}}:2379`]
  const options = {
    name,
    'data-dir': `/tmp/${name}`,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'initial-cluster': cluster,
    'initial-cluster-state': 'new',
    logger: 'zap',
  }
  const words = Object.entries(options).map(([option, value]) => `--${option}=${value}`)
  return { command: ['etcd', ...words], env: { GOMAXPROCS: '1' }, listens: 2379 }
}
