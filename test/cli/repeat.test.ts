import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyOfFixtures, lastnail, type start } from './lastnail.ts'

/** Does once a second what its argument says, and prints what came of it. */
const program = `
import os, sys, threading, time
kind, outside = sys.argv[1:]
path = os.path.join(outside, 'now')

def race():
    order = []
    def run(name):
        # It computes for as long as somebody outside pleases.
        while open(path).read() == before: pass
        order.append(name)
    before = open(path).read()
    threads = [threading.Thread(target=run, args=(name,)) for name in 'abcd']
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return order

kinds = {
    'none': lambda: time.time(),
    'content': lambda: os.read(os.open(path, os.O_RDONLY), 64),
    'link': lambda: os.readlink(os.path.join(outside, 'link')),
    'size': lambda: os.stat(os.path.join(outside, 'sized')).st_size,
    'names': lambda: sorted(os.listdir(outside)),
    'race': race,
    'delay': lambda: time.sleep(int(open(path).read()) % 7),
}
while True:
    time.sleep(1)
    print(kinds[kind](), flush=True)
`

/** Changes a directory for ever: it is what no boundary holds. */
const changing = `
const { renameSync, rmSync, symlinkSync, writeFileSync } = require('node:fs')
const at = name => process.argv[1] + '/' + name
for (let count = 1; ; count++) {
  writeFileSync(at('next'), String(count).padStart(16))
  renameSync(at('next'), at('now'))
  writeFileSync(at('next'), ' '.repeat(count % 9973))
  renameSync(at('next'), at('sized'))
  symlinkSync('to' + count, at('new'))
  renameSync(at('new'), at('link'))
  writeFileSync(at('name' + count), '')
  rmSync(at('name' + (count - 1)), { force: true })
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
}
`

const config = (kind: string, outside: string) => `
import { defineSystem } from 'lastnail'
export default defineSystem({
  name: 'planted',
  nodes: { n: { command: ['python3', 'planted.py', '${kind}', '${outside}'], write: ['${outside}'] } },
})
`

interface Printed {
  readonly times: number
  readonly same: number
  readonly differs: {
    readonly step: number
    readonly node: string
    readonly call: string
    readonly is: { stack: string[] }
  }
}

// What comes from outside comes when it pleases, and now and then not while calls are written down.
describe('repeat', { retry: 2 }, () => {
  let fixtures: ReturnType<typeof copyOfFixtures>
  let outside: string
  let changer: ReturnType<typeof start>

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

  beforeAll(async () => {
    fixtures = copyOfFixtures({ 'planted.py': program })
    outside = mkdtempSync('/var/tmp/lastnail-outside-')
    writeFileSync(join(outside, 'now'), '0'.padStart(16))
    writeFileSync(join(outside, 'sized'), '')
    symlinkSync('to0', join(outside, 'link'))
    const { execa } = await import('execa')
    changer = execa(process.execPath, ['-e', changing, outside], { reject: false }) as typeof changer
  })

  afterAll(async () => {
    changer.kill('SIGKILL')
    await changer
    rmSync(outside, { recursive: true, force: true })
    fixtures.remove()
  })

  test('says that all executions are the same where they are', async () => {
    const { code, printed } = await repeat('none')
    expect(printed).toEqual({ times: 5, same: 5, steps: 4, seed: 1, differs: null })
    expect(code).toBe(0)
  })

  test.each([
    ['content', 'read'],
    ['link', 'readlink'],
    ['size', 'newfstatat'],
    ['names', 'getdents64'],
  ])('names the system call by which %s comes in from outside', async (kind, call) => {
    const { code, printed } = await repeat(kind)
    expect(printed.same).toBeLessThan(5)
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
      '--executions',
      '150',
      '--json',
    )
    const { verdict, differs } = JSON.parse(stdout.trimEnd().split('\n').at(-1)!)
    expect({ code, verdict, differs }).toMatchObject({
      code: 2,
      verdict: 'undetermined',
      differs: { node: 'n', thread: 0 },
    })
    expect(differs.call).toMatch(/^(read|newfstatat|openat)$/)
  })

  test('names the call of the thread that a race begins with', async () => {
    const { printed } = await repeat('race')
    expect(printed.differs).toMatchObject({ node: 'n', step: expect.any(Number), call: expect.any(String) })
  })
})
