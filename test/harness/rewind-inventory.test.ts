import { describe, expect, test } from 'vitest'
import { clusterOf, stdoutOf } from './system.ts'

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

const openFile = `f = open('f', 'w+'); f.write('begun'); f.flush()`

describe('what a program changes in the kernel is as it was in the next execution', () => {
  test.each([
    [
      'the content of a file that has no name',
      `return os.pread(f.fileno(), 9, 0)`,
      `os.pwrite(f.fileno(), b'other', 0)`,
      `${openFile}; os.unlink('f')`,
    ],
    ['the content of a memfd', `return os.pread(m, 9, 0)`, `os.pwrite(m, b'x', 0)`, `m = os.memfd_create('m')`],
    ['the directory that it is in', `return os.getcwd()`, `os.chdir('/')`],
    [
      'the directory that it is in, made again',
      `
    try: return os.getcwd()
    except OSError: return 'gone'`,
      `os.rmdir('/tmp/in'); os.mkdir('/tmp/in')`,
      `os.mkdir('/tmp/in'); os.chdir('/tmp/in')`,
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
  ])('%s: it is brought back', async (_, see, change, begin = '') => {
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
  ])('%s: it is started anew, and the notes say why', async (_, see, change, begin = '') => {
    const { starts, notes } = await expectGivenBack(see, change, begin)
    expect(starts).toBe(3)
    expect(notes.join()).toMatch(/^n: a life of it could not be brought back, and was started anew: its .* changed: /)
  })
})
