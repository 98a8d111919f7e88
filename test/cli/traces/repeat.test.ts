import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

/**
 * Does once a second what its argument says, and prints what came of it: something that the boundary holds, or something of
 * a directory of the machine, which no boundary holds, and which it changes, so that it is another in each execution.
 */
const program = `
import ctypes, os, resource, socket, sys, threading, time
kind, outside = sys.argv[1:]
inside = lambda name: os.path.join(outside, name)

def clock():
    now = (ctypes.c_long * 2)()
    ctypes.CDLL(None).syscall(228, 0, now)
    return list(now), open('/proc/uptime').read()

def threads():
    sys.setswitchinterval(1e-6)
    order = []
    def run(name):
        for _ in range(20000): pass
        order.append(name)
    all = [threading.Thread(target=run, args=(name,)) for name in 'abcd']
    for thread in all: thread.start()
    for thread in all: thread.join()
    return order

def port():
    with socket.socket() as one:
        one.bind(('0.0.0.0', 0))
        return one.getsockname()

def memory():
    return resource.getrusage(resource.RUSAGE_SELF), open('/proc/self/stat').read(), open('/proc/self/statm').read()

def content():
    file = os.open(inside('count'), os.O_RDWR)
    count = int(os.read(file, 16))
    os.pwrite(file, b'%016d' % (count + 1), 0)
    os.close(file)
    return count

def link():
    target = os.readlink(inside('link'))
    os.unlink(inside('link'))
    os.symlink(target + 'o', inside('link'))
    return target

def size():
    found = os.stat(inside('sized')).st_size
    os.truncate(inside('sized'), found + 1)
    return found

def names():
    found = sorted(os.listdir(inside('names')))
    os.rename(inside('names/' + found[0]), inside('names/' + str(int(found[0]) + 1)))
    return found

def race():
    first = []
    all = [threading.Thread(target=lambda: first.append(content())) for _ in 'abcd']
    for thread in all: thread.start()
    for thread in all: thread.join()
    return first

does = {
    'clock': clock,
    'threads': threads,
    'address': lambda: (id(object()), ctypes.addressof(ctypes.create_string_buffer(1 << 20)), hash('text')),
    'port': port,
    'memory': memory,
    'content': content,
    'link': link,
    'size': size,
    'names': names,
    'race': race,
    'delay': lambda: time.sleep(content() % 7),
}
while True:
    time.sleep(1)
    print(does[kind](), flush=True)
`

/** The interpreter itself: `python3` may be a script that starts it, and what a script waits for is not what is planted. */
const python = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim()

const config = (kind: string, outside: string) => `
import { defineSystem } from 'lastnail'
export default defineSystem({
  name: 'planted',
  nodes: { n: { command: ['${python}', 'planted.py', '${kind}', '${outside}'], write: ['${outside}'] } },
})
`

interface Printed {
  readonly times: number
  readonly same: number
  readonly differs: {
    readonly step: number
    readonly node: string
    readonly thread: number
    readonly call: string
    readonly is: { stack: string[] }
  }
}

describe('repeat', () => {
  let fixtures: ReturnType<typeof copyOfFixtures>
  let outside: string

  const repeat = async (kind: string): Promise<{ code: number | undefined; printed: Printed }> => {
    writeFileSync(join(fixtures.directory, `${kind}.config.ts`), config(kind, outside))
    const { code, stdout } = await lastnail(
      fixtures.directory,
      'repeat',
      `${kind}.config.ts`,
      '--times',
      '5',
      '--steps',
      '4',
      '--json',
    )
    return { code, printed: JSON.parse(stdout.trimEnd().split('\n').at(-1)!) }
  }

  beforeAll(() => {
    fixtures = copyOfFixtures({ 'planted.py': program })
    outside = mkdtempSync('/var/tmp/lastnail-outside-')
    writeFileSync(join(outside, 'count'), '0'.padStart(16, '0'))
    writeFileSync(join(outside, 'sized'), '')
    mkdirSync(join(outside, 'names', '0'), { recursive: true })
    symlinkSync('to', join(outside, 'link'))
  })

  afterAll(() => {
    rmSync(outside, { recursive: true, force: true })
    fixtures.remove()
  })

  test.each(['clock', 'threads', 'address', 'port', 'memory'])(
    'says that all executions are the same where the program prints its %s, which is held',
    async kind => {
      const { code, printed } = await repeat(kind)
      expect(printed).toEqual({ times: 5, same: 5, steps: 4, seed: 1, differs: null })
      expect(code).toBe(0)
    },
  )

  test.each([
    ['content', 'read'],
    ['link', 'readlink'],
    ['size', 'newfstatat'],
    ['names', 'getdents64'],
  ])('names the system call by which %s comes in from outside', async (kind, call) => {
    const { code, printed } = await repeat(kind)
    expect(printed.same).toBe(1)
    expect(printed.differs).toMatchObject({ node: 'n', thread: 0, call })
    expect(printed.differs.step).toBeGreaterThan(0)
    expect(printed.differs.is.stack.join()).toContain('python')
    expect(code).toBe(3)
  })

  test('is done by a check that is in doubt: it names the call too', async () => {
    writeFileSync(join(fixtures.directory, 'delay.config.ts'), config('delay', outside))
    const { code, stdout } = await lastnail(
      fixtures.directory,
      'check',
      'delay.config.ts',
      '--search',
      'bounded',
      '--workers',
      '1',
      '--executions',
      '60',
      '--json',
    )
    const { verdict, differs } = JSON.parse(stdout.trimEnd().split('\n').at(-1)!)
    expect({ code, verdict, differs }).toMatchObject({
      code: 2,
      verdict: 'undetermined',
      differs: { node: 'n', thread: 0 },
    })
    expect(differs.call).toBe('read')
  })

  test('names the call of the thread that a race begins with', async () => {
    const { printed } = await repeat('race')
    expect(printed.differs).toMatchObject({ node: 'n', step: 1, call: 'read' })
    expect(printed.differs.thread).toBeGreaterThan(0)
  })
})
