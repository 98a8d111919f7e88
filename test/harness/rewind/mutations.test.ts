import { expect, test } from 'vitest'
import { clusterOf, stdoutOf } from '../system.ts'

/** Prints all that it can see of itself, and changes all of that, each second. */
const program = `
import ctypes, fcntl, mmap, os, resource, signal, socket, stat, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
class Stack(ctypes.Structure): _fields_ = [('at', ctypes.c_void_p), ('flags', ctypes.c_int), ('size', ctypes.c_size_t)]
stacks = ctypes.create_string_buffer(1 << 20)
base = ctypes.addressof(stacks)
os.makedirs('/tmp/lastnail-d')
for name in 'cab': open('/tmp/lastnail-d/' + name, 'w').write(name)
f = open('/tmp/lastnail-f', 'w+')
u = open('/tmp/lastnail-u', 'w+'); os.unlink('/tmp/lastnail-u')
m = os.memfd_create('m')
libc.shmat.restype = ctypes.c_void_p
shared = libc.shmat(libc.shmget(4711, 4096, 0o1600), None, 0)
shm = mmap.mmap(-1, 2 << 20)
def mapping(name):
  with open(name, 'w+b') as file:
    file.truncate(8192)
    return mmap.mmap(file.fileno(), 8192)
mapped = mapping('/tmp/lastnail-p'); named = mapping('/dev/shm/lastnail-s')

def alternate():
  old = Stack(); libc.sigaltstack(None, ctypes.byref(old))
  return (old.at - base if old.at and old.flags != 2 else None, old.flags, old.size)

def see():
  directory = [(name, oct(os.stat('/tmp/lastnail-d/' + name).st_mode), os.stat('/tmp/lastnail-d/' + name).st_mtime) for name in os.listdir('/tmp/lastnail-d')]
  timers = [signal.getitimer(which) for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)]
  return (alternate(), directory, timers, os.nice(0), fcntl.fcntl(f, fcntl.F_GETFL), f.tell(), os.fstat(f.fileno()).st_size, os.pread(u.fileno(), 99, 0), os.pread(m, 99, 0),
    os.umask(0o22), socket.gethostname(), threading.active_count(), sorted(os.listdir('/proc/self/fd')), os.getcwd(),
    resource.getrlimit(resource.RLIMIT_NOFILE), sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])), libc.prctl(3, 0, 0, 0, 0),
    ctypes.string_at(shared, 4), shm[:4], named[:4], mapped[:4], open('/dev/shm/lastnail-s', 'rb').read(), sorted(os.listdir('/dev/shm')), open('/proc/self/stat').read(), os.environ.get('turn'))

turn = 0
while True:
  # What is not given back is seen before it is changed again.
  time.sleep(1)
  print(see(), flush=True)
  turn += 1
  os.utime('/tmp/lastnail-d/a', (turn, turn)); os.chmod('/tmp/lastnail-d/b', 0o600 + turn)
  os.unlink('/tmp/lastnail-d/c'); open('/tmp/lastnail-d/c', 'w').write('new'); open('/tmp/lastnail-d/z%d' % turn, 'w')
  signal.setitimer(signal.ITIMER_VIRTUAL, 5 + turn); signal.setitimer(signal.ITIMER_REAL, 500 + turn)
  f.write('x' * turn); f.flush(); os.pwrite(u.fileno(), b'u' * turn, 0); os.pwrite(m, b'm' * turn, 0)
  os.rename('/tmp/lastnail-d/z%d' % turn, '/tmp/lastnail-d/a')
  os.environ['turn'] = str(turn)
  signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1 if turn % 2 else signal.SIGUSR2])
  os.dup(0)
  ctypes.memset(shared, 65 + turn, 4); shm[:4] = named[:4] = mapped[:4] = b'%4d' % turn; shm[1 << 20] = turn
  open('/dev/shm/lastnail-%d' % turn, 'w').write('new')
  new = Stack(base + 4096 * turn, 0, 65536); libc.sigaltstack(ctypes.byref(new), None)
  if ANEW:
    os.nice(1); fcntl.fcntl(f, fcntl.F_SETFL, os.O_APPEND); fcntl.flock(f, fcntl.LOCK_EX)
    resource.setrlimit(resource.RLIMIT_NOFILE, (500 + turn, resource.getrlimit(resource.RLIMIT_NOFILE)[1])); libc.prctl(4, turn % 2, 0, 0, 0)
`

/** In place; `EXECUTIONS=200` is for the bench: so many in place, and so many on new processes. */
const executions = Number(process.env.EXECUTIONS ?? 5)
const executionsAnew = Number(process.env.EXECUTIONS ?? 1)
const msMax = 60_000 + executions * 1000

const python = (values: string) => values.replace(/true|false/g, value => (value === 'true' ? 'True' : 'False'))

test.each([
  ['what is restored', 'ANEW = false', true],
  ['what is compared', 'ANEW = true', false],
])(
  'a program that changes all it can sees the same in place as on new processes: %s',
  async (_, settings, staysInPlace) => {
    const files = { 'n.py': `${python(settings)}\n${program}` }
    const nodes = { n: { command: ['python3', 'n.py'] } }
    const cluster = clusterOf({ nodes }, files)
    const execute = async () => {
      expect(await cluster.reset()).toEqual([])
      for (let step = 0; step < 4; step++) expect((await cluster.execute(cluster.enabled()[0]!)).findings).toEqual([])
      return stdoutOf(cluster, 'n')
    }
    const first = await execute()
    expect(new Set(first).size).toBe(4)
    for (let execution = 1; execution < executions; execution++) expect(await execute()).toEqual(first)
    if (staysInPlace) expect(cluster.notes()).toEqual([])
    expect(cluster.starts).toBe(staysInPlace ? 1 : executions)
    cluster.stopRewinding()
    for (let execution = 0; execution < executionsAnew; execution++) expect(await execute()).toEqual(first)
  },
  msMax,
)
