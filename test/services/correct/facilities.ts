import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import {
  always,
  defineSystem,
  eventually,
  jsonLines,
  type NodeDefinition,
  type NodeHandle,
  type SystemDefinition,
} from '../../../harness/config/config.ts'

/** A kind of facility that a correct program uses, and what must be there to try it. */
export interface Facility {
  readonly name: string
  readonly program: string
  readonly needs: 'python3' | 'gcc' | 'go' | 'node'
  /** Whether a node asks another one, and not only itself. */
  readonly asksPeer?: boolean
}

const of =
  (needs: Facility['needs'], asksPeer = false) =>
  (name: string, program: string): Facility => ({ name, program, needs, asksPeer })
const [python, c, pair] = [of('python3'), of('gcc'), of('node', true)]

export const facilities: readonly Facility[] = [
  python('flock and fcntl', 'locks.py'),
  python('sqlite of two processes', 'sqlite.py'),
  python('inotify', 'inotify.py'),
  python('mmap', 'mappings.py'),
  python('unix sockets and SCM_RIGHTS', 'descriptors.py'),
  c('signals and timers', 'timers.c'),
  c('timers that call a thread', 'notified.c'),
  python('eventfd', 'eventfds.py'),
  python('epoll, edge-triggered', 'edges.py'),
  python('SO_REUSEPORT', 'reuseport.py'),
  python('pre-fork', 'prefork.py'),
  python('double-fork', 'daemon.py'),
  python('pipes', 'pipes.py'),
  c('io_uring, or what stands for it', 'uring.c'),
  python('multicast to itself', 'multicast.py'),
  python('IPv6 on ::1', 'loopback6.py'),
  python('names (DNS)', 'names.py'),
  of('python3', true)('TLS in Python', 'secure.py'),
  pair('TLS in Node.js', 'secure.cjs'),
  of('go', true)('TLS in Go', 'secure.go'),
  pair('HTTP/2', 'http2.cjs'),
  pair('websockets', 'websockets.cjs'),
  pair('long polls', 'polls.cjs'),
  pair('bodies of 5 MB', 'bodies.cjs'),
  python('sendfile', 'sendfile.py'),
  c('futexes between processes', 'futexes.c'),
  c('robust mutexes', 'robust.c'),
  python('memfd', 'memfds.py'),
  c('shared memory', 'shm.c'),
  c('message queues', 'queues.c'),
  c('seccomp', 'seccomp.c'),
  c('vfork', 'vforks.c'),
  c('chroot', 'roots.c'),
  c('setuid', 'users.c'),
]

/** Asks a node to do its work, and gives what it answers. */
const ask = (node: NodeHandle): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    const socket = node.tcp(8080)
    socket.on('data', data => {
      text += data
    })
    socket.on('end', () => resolve(text))
    socket.on('error', reject)
    socket.write('go')
  })

/** Makes what programs need besides their source: a certificate, and those of C and Go. */
const build = (root: string, directory: string, program: string): readonly string[] => {
  const source = join(root, 'test/services/correct', program)
  const built = join(directory, program.replace(/\..*/, ''))
  mkdirSync(directory, { recursive: true })
  if (program.endsWith('.c')) execFileSync('gcc', ['-O1', '-o', built, source, '-pthread', '-lrt'])
  if (program.endsWith('.go')) execFileSync('go', ['build', '-o', built, source])
  if (program.startsWith('secure')) makeCertificate(directory)
  if (program.endsWith('.py')) return ['python3', source]
  return program.endsWith('.cjs') ? ['node', source] : [built]
}

const makeCertificate = (directory: string) =>
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '3650'],
      ...['-subj', '/CN=back', '-addext', 'subjectAltName=DNS:back', '-keyout', 'key.pem', '-out', 'cert.pem'],
    ],
    { cwd: directory, stdio: 'ignore' },
  )

interface Surroundings {
  /** Of the repository. */
  readonly root: string
  /** For what is built. */
  readonly directory: string
  readonly faults?: SystemDefinition['faults']
  readonly threads?: number
}

/** What a program says of a peer that it has lost. A wrong answer of a peer reads otherwise. */
const isOfLostPeer = /^\w*Error\b(?!.*assert)|reset|refused|closed|EOF|broken pipe|timed? ?out|no route|unreachable/is

/** What a program says of its disk, if that fails. */
const isOfDisk = /no space left|input\/output error|disk i\/o error|disk is full|ENOSPC|EIO/i

/**
 * What a program says where a call fails: it gets no descriptor, of which SQLite says nothing else, so its child ends by an error;
 * or it does not wait again after EINTR.
 */
const isOfCalls =
  /too many open files|no file descriptors|EMFILE|unable to open database file|status == 0|interrupted system call/i

/**
 * A system whose nodes use a facility rightly: every call is answered, by `ok`. With faults, the call of a node that ends is
 * answered by nobody, and a node that asks another one may say that it has lost it, or wait for it for ever where nothing tells
 * that it is gone: none of these programs has a time-out of its own. A program may also end where its disk fails, or it gets no
 * descriptor: it is then started again.
 */
export const systemOf = (
  { name, program, asksPeer }: Facility,
  { root, directory, faults = {}, threads = 0 }: Surroundings,
): SystemDefinition => {
  const command = build(root, directory, program)
  const env = {
    PYTHONDONTWRITEBYTECODE: '1',
    CERT: join(directory, 'cert.pem'),
    KEY: join(directory, 'key.pem'),
    UNDICI: createRequire(import.meta.url).resolve('undici'),
  }
  const exits = faults.disk === undefined && faults.calls === undefined ? ('crash' as const) : ('restart' as const)
  const asking = (own: string, peer: string) => ({
    command: [...command],
    env: { ...env, BACK: 'back', FRONT: own, PEER: peer, PEER_ADDRESS: `{{${peer}.address}}` },
    listens: 8080,
    exits,
  })
  const nodes: Record<string, NodeDefinition> = {
    ...(asksPeer && { back: { command: [...command, 'back'], env, listens: 8080, exits } }),
    one: asking('one', 'two'),
    two: asking('two', 'one'),
  }
  const isFaulty = Object.keys(faults).length > 0
  return defineSystem({
    name: name.replaceAll(/\W+/g, '-'),
    nodes,
    state: jsonLines('stdout'),
    clients: {
      ann: { run: ({ one }) => ask(one!), times: 2 },
      bob: { run: ({ two }) => ask(two!), times: 1 },
    },
    faults,
    threads,
    properties: {
      answersOk: always(s =>
        s.calls.every(({ value, error }) => {
          if (value === undefined || value === 'ok') return error === undefined || isFaulty
          if (faults.disk !== undefined && isOfDisk.test(String(value))) return true
          if (faults.calls !== undefined && isOfCalls.test(String(value))) return true
          return isFaulty && asksPeer === true && isOfLostPeer.test(String(value))
        }),
      ),
      ...(!(isFaulty && asksPeer) && {
        answers: eventually(s => s.calls.every(({ completedAt }) => completedAt !== undefined)),
      }),
    },
  })
}
