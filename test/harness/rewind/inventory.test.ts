import { describe, expect, test } from 'vitest'
import { clusterOf, stdoutOf } from '../system.ts'

/**
 * A program that prints what it can see of something in the kernel, changes it, and would see that again if it were not
 * given back exactly: what it prints is the same in every execution, in place or on new processes.
 */
const expectGivenBack = async (see: string, change: string, begin = '') => {
  const program = `
import fcntl, os, resource, signal, socket, struct, time
${begin}
def see():
    ${see}
print('up', flush=True)
time.sleep(1)
print(see(), flush=True)
${change}
print(see(), flush=True)
time.sleep(1)
`
  const cluster = clusterOf({ nodes: { n: { command: ['python3', 'n.py'] } } }, { 'n.py': program })
  const executions: string[][] = []
  for (let execution = 0; execution < 3; execution++) {
    expect(await cluster.reset()).toEqual([])
    while (stdoutOf(cluster, 'n').length < 3) await cluster.execute(cluster.enabled()[0]!)
    executions.push(stdoutOf(cluster, 'n'))
  }
  const [first] = executions
  // The change can be seen, or this tests nothing.
  expect(first![1]).not.toBe(first![2])
  expect(executions).toEqual([first, first, first])
  return { starts: cluster.starts, notes: cluster.notes() }
}

/** `ask` lets another thread call something. */
const otherThread = `
import ctypes, queue, threading
libc = ctypes.CDLL(None, use_errno=True)
class Stack(ctypes.Structure): _fields_ = [('at', ctypes.c_void_p), ('flags', ctypes.c_int), ('size', ctypes.c_size_t)]
stacks = ctypes.create_string_buffer(1 << 20)
base = ctypes.addressof(stacks)
def alternate():
    old = Stack(); libc.sigaltstack(None, ctypes.byref(old))
    return (old.at - base if old.at else None, old.flags, old.size)
def set_alternate(place):
    assert libc.sigaltstack(ctypes.byref(Stack(base + 65536 * place, 0, 65536)), None) == 0
asked, answers = queue.Queue(), queue.Queue()
def serve():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    while True: answers.put(asked.get()())
def ask(work):
    asked.put(work)
    return answers.get()
other = threading.Thread(target=serve, daemon=True)
other.start()
`

const directory = `
os.mkdir('/tmp/lastnail-d')
os.mkdir('/tmp/lastnail-d/e')
for name in 'cab': open('/tmp/lastnail-d/' + name, 'w').write(name)`
const openFile = `f = open('f', 'w+'); f.write('begun'); f.flush()`

describe('what a program changes in the kernel is as it was in the next execution', () => {
  test.each([
    [
      'the content of a file that has no name',
      `return os.pread(f.fileno(), 9, 0)`,
      `os.pwrite(f.fileno(), b'other', 0)`,
      `${openFile}; os.unlink('f')`,
    ],
    [
      'the content of a file that has no name and cannot be read',
      `return os.fstat(w).st_size`,
      `os.write(w, b'other')`,
      `w = os.open('w', os.O_WRONLY | os.O_CREAT); os.write(w, b'begun'); os.unlink('w')`,
    ],
    ['the content of a memfd', `return os.pread(m, 9, 0)`, `os.pwrite(m, b'x', 0)`, `m = os.memfd_create('m')`],
    ['the directory that it is in', `return os.getcwd()`, `os.chdir('/')`],
    [
      'the directory that it is in, made again',
      `
    try: return os.getcwd()
    except OSError: return 'gone'`,
      `os.rmdir('/tmp/lastnail-in'); os.mkdir('/tmp/lastnail-in')`,
      `os.mkdir('/tmp/lastnail-in'); os.chdir('/tmp/lastnail-in')`,
    ],
    [
      'the order in which a directory lists a file that was made again',
      `return os.listdir('/tmp/lastnail-d')`,
      `os.unlink('/tmp/lastnail-d/c'); open('/tmp/lastnail-d/c', 'w')`,
      directory,
    ],
    [
      'the order in which a directory lists a file that has replaced another',
      `return os.listdir('/tmp/lastnail-d')`,
      `open('/tmp/lastnail-d/new', 'w'); os.rename('/tmp/lastnail-d/new', '/tmp/lastnail-d/a')`,
      directory,
    ],
    [
      'the order in which a directory lists another that was made again',
      `return os.listdir('/tmp/lastnail-d')`,
      `os.rmdir('/tmp/lastnail-d/e'); os.mkdir('/tmp/lastnail-d/e')`,
      directory,
    ],
    [
      'the stack for signals of another thread',
      `return ask(alternate)`,
      `ask(lambda: set_alternate(2))`,
      `${otherThread}
ask(lambda: set_alternate(1))`,
    ],
    [
      'the id of the next process',
      `
    pid = os.fork()
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
    return pid`,
      `pass`,
      `
pid = os.fork()
if pid == 0: os._exit(0)
os.waitpid(pid, 0)`,
    ],
  ])('%s: it is rewound', async (_, see, change, begin = '') => {
    expect((await expectGivenBack(see, change, begin)).starts).toBe(1)
  })

  test.each([
    [
      'flags',
      `return fcntl.fcntl(f, fcntl.F_GETFL) & os.O_APPEND`,
      `fcntl.fcntl(f, fcntl.F_SETFL, os.O_APPEND)`,
      openFile,
    ],
    [
      'a lock',
      `
    try: fcntl.flock(g, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError: return 'locked'
    fcntl.flock(g, fcntl.LOCK_UN)
    return 'free'`,
      `fcntl.flock(f, fcntl.LOCK_EX)`,
      `${openFile}; g = open('f')`,
    ],
    [
      'limits',
      `return resource.getrlimit(resource.RLIMIT_NOFILE)[0]`,
      `resource.setrlimit(resource.RLIMIT_NOFILE, (99, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))`,
    ],
    [
      'umask',
      `
    mask = os.umask(0)
    os.umask(mask)
    return mask`,
      `os.umask(0o77)`,
    ],
    ['user', `return os.geteuid()`, `os.seteuid(1000)`],
    [
      'socket options',
      `return s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)`,
      `s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 5000)`,
      `s = socket.socket(type=socket.SOCK_DGRAM); s.bind(('', 99))`,
    ],
    [
      'signals that are pending for another thread',
      `return ask(signal.sigpending)`,
      `signal.pthread_kill(other.ident, signal.SIGUSR1)`,
      otherThread,
    ],
    [
      'the time to live of datagrams',
      `return s.getsockopt(socket.IPPROTO_IP, socket.IP_TTL)`,
      `s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 9)`,
      `s = socket.socket(type=socket.SOCK_DGRAM); s.bind(('', 99))`,
    ],
    [
      'the groups that a socket has joined',
      `return '030201EF' in open('/proc/net/igmp').read()`,
      `s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton('239.1.2.3') + socket.inet_aton('0.0.0.0'))`,
      `s = socket.socket(type=socket.SOCK_DGRAM); s.bind(('', 99))`,
    ],
    [
      'the root directory',
      `return sorted(os.listdir('/'))[0]`,
      `os.chroot('/tmp/lastnail-r')`,
      `os.makedirs('/tmp/lastnail-r/x')`,
    ],
    ['priority', `return os.nice(0)`, `os.nice(3)`],
    [
      'the host name',
      `return socket.gethostname()`,
      `socket.sethostname('other')`,
      `import ctypes; assert ctypes.CDLL(None).unshare(0x14000000) == 0`,
    ],
    [
      'ids of POSIX timers',
      `
    timer = ctypes.c_int()
    assert libc.syscall(timer_create, 1, None, ctypes.byref(timer)) == 0
    libc.syscall(timer_delete, timer)
    return timer.value`,
      `pass`,
      `import ctypes; libc = ctypes.CDLL(None); timer_create, timer_delete = 222, 226`,
    ],
    [
      'what prctl sets',
      `return libc.prctl(PR_GET_KEEPCAPS, 0, 0, 0, 0)`,
      `libc.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)`,
      `import ctypes; libc = ctypes.CDLL(None); PR_GET_KEEPCAPS, PR_SET_KEEPCAPS = 7, 8`,
    ],
    [
      'attributes of files',
      `
    try: return os.getxattr('f', 'user.a')
    except OSError: return 'none'`,
      `os.setxattr('f', 'user.a', b'b')`,
      openFile,
    ],
    ['the size of a pipe', `return fcntl.fcntl(r, 1032)`, `fcntl.fcntl(r, 1031, 4096)`, `r, w = os.pipe()`],
    [
      'message queues of POSIX',
      `os.lseek(q, 0, 0); return os.read(q, 9)`,
      `libc.mq_send(q, b'abc', 3, 0)`,
      `import ctypes; libc = ctypes.CDLL(None); q = libc.mq_open(b'/q', 0o102, 0o600, None)`,
    ],
  ])('%s: it is started anew, and the notes say why', async (_, see, change, begin = '') => {
    const { starts, notes } = await expectGivenBack(see, change, begin)
    expect(starts).toBe(3)
    expect(notes.join()).toMatch(
      /^n: a life of it could not be rewound, and was started anew: (its .* changed: |(other signals are pending|it has a message queue of POSIX)( \(2 times\))?$)/,
    )
  })
})

test('a socket that cannot be restored is named by its domain and type', async () => {
  const program = `
import socket, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
time.sleep(1000)
`
  const cluster = clusterOf({ nodes: { n: { command: ['python3', 'n.py'] } } }, { 'n.py': program })
  for (let execution = 0; execution < 2; execution++) expect(await cluster.reset()).toEqual([])
  expect(cluster.notes()).toEqual([
    'n: a life of it could not be rewound, and was started anew: it has a packet socket (raw)',
  ])
})
