import { chmodSync, cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { beforeAll, describe, expect, test } from 'vitest'
import { command, copyOfFixtures, lastnail } from '../lastnail.ts'

/** Two nodes whose states are large, so that a disk fills while a trace of them is written. */
const files = {
  'large.config.mjs': `
    import { always, defineSystem, jsonLines } from 'lastnail'
    export default defineSystem({
      name: 'large',
      nodes: { a: { command: ['node', 'large.cjs'] }, b: { command: ['node', 'large.cjs'] } },
      state: jsonLines('stdout'),
      properties: { few: always(s => s.nodes.reduce((sum, node) => sum + (node.state?.count ?? 0), 0) < 14) },
      emulation: { for: '3s' },
    })`,
  'goal.config.mjs': `
    import { defineSystem, jsonLines, reach } from 'lastnail'
    export default defineSystem({
      name: 'goal',
      nodes: { a: { command: ['node', 'large.cjs'] } },
      state: jsonLines('stdout'),
      goal: reach('it counts to twelve', s => s.node('a').state?.count === 12),
    })`,
  'held.config.mjs': `
    import { defineSystem, jsonLines } from 'lastnail'
    const large = { command: ['node', 'large.cjs'] }
    export default defineSystem({ name: 'held', nodes: { a: large, b: large }, state: jsonLines('stdout') })`,
  'large.cjs': `
    let count = 0
    const noise = () => require('crypto').randomBytes(6000).toString('base64')
    setInterval(() => console.log(JSON.stringify({ count: ++count, noise: noise() })), 100)`,
  'tiny.cjs': 'require("fs").writeFileSync("file", Buffer.alloc(1 << 20)); setInterval(() => {}, 1000)',
  'tiny.config.mjs': `
    import { defineSystem } from 'lastnail'
    export default defineSystem({ name: 'tiny', nodes: { a: { command: ['node', 'tiny.cjs'] } } })`,
  'bomb.yaml': `
${['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name, index, names) => `${name}: &${name} [${Array(10).fill(index === 0 ? 'x' : `*${names[index - 1]}`)}]`).join('\n')}
services: { web: { image: x, command: *g } }`,
}

let directory: string
beforeAll(async () => {
  const copy = copyOfFixtures(files)
  directory = copy.directory
  for (const name of ['small', 'full', 'readonly']) mkdirSync(join(directory, name))
  await lastnail(directory, ...check, '--out', 'out')
  cpSync(join(directory, 'out/large/latest/few.trace'), join(directory, 'kept.trace'))
  // An ordinary user reads it.
  chmodSync(directory, 0o755)
  chmodSync(join(directory, 'kept.trace'), 0o644)
  return copy.remove
}, 60_000)

const check = ['check', 'large.config.mjs', '--search', 'walk', '--executions', '1', '--workers', '1']

/** In a mount namespace of its own: a disk of 64 kB, one that is full, and one that cannot be written. */
const disks = `
  mount -t tmpfs -o size=64k lastnail-test small
  mount -t tmpfs -o size=16k lastnail-test full; dd if=/dev/zero of=full/all bs=16k count=1 status=none
  mount -t tmpfs -o size=1m,ro lastnail-test readonly`

const onDisks = async (args: readonly string[], { before = ':', env = {} } = {}) => {
  const script = `set -e; ${disks}; ${before}; exec "$@"`
  const { exitCode, stdout, stderr } = await execa(
    'unshare',
    ['--mount', 'sh', '-c', script, 'sh', process.execPath, command, ...args],
    { cwd: directory, env, reject: false, timeout: 60_000 },
  )
  return { code: exitCode, stdout: String(stdout), stderr: String(stderr) }
}

/** The lines of an error: one, and no defect. */
const linesOf = (stderr: string) => stderr.split('\n').filter(line => !line.startsWith('lastnail: something else uses'))

describe.runIf(process.getuid!() === 0)('what cannot be written (needs root)', { timeout: 120_000 }, () => {
  test('a violation whose trace finds no space is said all the same, with its whole schedule', async () => {
    const { code, stdout, stderr } = await onDisks([...check, '--out', 'small'])
    expect(code).toBe(64)
    expect(stdout).toMatch(/ {2}14 {2}[ab] timer \+100ms\nviolated: safety few\n/)
    expect(stdout).not.toContain('trace:')
    expect(linesOf(stderr)).toEqual([
      expect.stringMatching(/^lastnail: cannot write the trace \/.*\/small\/large\/.*few\.trace: ENOSPC: /),
    ])
    const json = await onDisks([...check, '--out', 'small', '--json'])
    const outcome = JSON.parse(json.stdout)
    expect(json.code).toBe(64)
    expect(outcome).toMatchObject({ verdict: 'violated', repeated: true, trace: null, report: null })
    expect(outcome.schedule).toHaveLength(14)
    expect(outcome.notes).toContainEqual(expect.stringContaining('cannot write the trace'))
  })

  test('a check that held says so, and why it has no sample', async () => {
    const { code, stdout, stderr } = await onDisks(['check', 'held.config.mjs', '--executions', '2', '--out', 'small'])
    expect([code, stdout]).toEqual([64, expect.stringMatching(/^held\n/m)])
    expect(linesOf(stderr)).toEqual([
      expect.stringMatching(/^lastnail: cannot write the trace .*sample\.trace: ENOSPC/),
    ])
  })

  test('the way to a goal that cannot be written is said, and the check goes on', async () => {
    const { code, stdout, stderr } = await onDisks(['check', 'goal.config.mjs', '--executions', '4', '--out', 'small'])
    expect([code, stdout]).toEqual([64, expect.stringMatching(/^held\n/m)])
    expect(stdout).toMatch(/^note: executions began where "it counts to twelve" holds, after 12 steps/m)
    expect(stdout).not.toContain('--from')
    expect(linesOf(stderr)[0]).toMatch(/^lastnail: cannot write the trace .*goal-1-.*\.trace: ENOSPC/)
  })

  test.each([
    ['full', /^lastnail: cannot write traces to \/.*\/full: ENOSPC: /],
    ['readonly', /^lastnail: cannot write traces to .*: \/.*\/readonly is read-only$/],
    ['/proc/x', /^lastnail: cannot write traces to \/proc\/x: ENOENT: /],
    ['large.cjs', /^lastnail: cannot write traces to .*: \/.*\/large\.cjs is a file$/],
  ])('--out %s is refused before a search', async (out, expected) => {
    const { code, stdout, stderr } = await onDisks(['check', 'large.config.mjs', '--out', out])
    expect([code, stdout, linesOf(stderr)]).toEqual([64, '', [expect.stringMatching(expected)]])
  })

  test('--junit and --save that cannot be written leave the verdict and the trace', async () => {
    const junit = await onDisks([...check, '--out', 'out', '--junit', 'full/junit.xml'])
    expect([junit.code, junit.stdout]).toEqual([64, expect.stringContaining('\nviolated: safety few\n')])
    expect(linesOf(junit.stderr)).toEqual([
      expect.stringMatching(/^lastnail: cannot write the JUnit file full\/junit\.xml: ENOSPC: /),
    ])
    expect(junit.stdout).toContain('\ntrace: ')
    const inReadOnly = await onDisks([...check, '--save', '--out', 'out'], {
      before: 'mkdir schedules; mount --bind readonly schedules',
    })
    expect([inReadOnly.code, inReadOnly.stdout]).toEqual([64, expect.stringContaining('\nviolated: safety few\n')])
    expect(inReadOnly.stderr).toMatch(/^lastnail: cannot write the schedule .*\.json: EROFS: /m)
  })

  test.each([
    ['keep', ['--out', 'full'], 'the schedule .*full/few-.*: ENOSPC'],
    ['keep', ['--out', '/proc/x'], 'schedules to /proc/x: ENOENT'],
    ['keep', ['--test', '--out', '/proc/x/few.test.ts'], 'the test /proc/x/few.test.ts: ENOENT'],
    ['report', ['--out', 'full/few.html'], 'the report full/few.html: ENOSPC'],
  ])('%s %s says the path and the reason, and leaves no part of a file', async (name, args, expected) => {
    const { code, stdout, stderr } = await onDisks([name, 'kept.trace', ...args])
    expect([code, stdout, stderr]).toEqual([
      64,
      '',
      expect.stringMatching(new RegExp(`^lastnail: cannot write ${expected}: [^\n]*$`)),
    ])
  })

  test('the verdict of try is printed, though its trace is not written', async () => {
    const { code, stdout, stderr } = await onDisks(['try', 'large.config.mjs', 'a timer', '--out', '/proc/x/x.trace'])
    expect([code, stdout]).toEqual([64, expect.stringMatching(/^held\n/m)])
    expect(linesOf(stderr)).toEqual([expect.stringContaining('cannot write the trace /proc/x/x.trace: ENOENT')])
  })

  test.each(['virtual', 'native'])(
    'a run at the pace %s ends when its disk is full, and its summary is printed',
    async pace => {
      const args = ['emulate', 'held.config.mjs', '--for', '3s', '--pace', pace, '--out', 'small', '--json']
      const { code, stdout, stderr } = await onDisks(args)
      const summary = JSON.parse(stdout)
      expect([code, summary.plot]).toEqual([64, null])
      expect(summary.notes).toContainEqual(expect.stringMatching(/: ENOSPC: .*: the run ended then, at \d\.\d s$/))
      expect(stderr).toMatch(/^lastnail: cannot write (the trace|what nodes print to) .*: ENOSPC: /m)
      expect(stderr).not.toContain('    at ')
    },
  )

  test('a campaign whose disk is full goes on, and says each bug with its schedule', async () => {
    const args = ['campaign', 'large.config.mjs', '--executions', '1', '--workers', '1', '--out', 'small', '--json']
    const { code, stdout, stderr } = await onDisks(args)
    const { verdict, bugs, notes } = JSON.parse(stdout)
    expect([code, verdict, bugs]).toEqual([64, 'violated', [expect.objectContaining({ trace: null, file: null })]])
    expect(notes).toContainEqual(
      expect.stringMatching(/^few does not hold after step 14 .*: "a timer \+100ms", |^few .*"b timer/),
    )
    expect(stderr).toMatch(/^lastnail: cannot write the trace .*: ENOSPC: /m)
  })

  test.each([
    ['HOME', '/proc'],
    ['XDG_CACHE_HOME', 'full'],
    ['TMPDIR', '/proc/x'],
  ])('no cache is needed: %s=%s', async (name, value) => {
    const { code } = await onDisks(['check', 'tiny.config.mjs', '--executions', '1', '--out', 'out'], {
      env: { XDG_CACHE_HOME: '', [name]: value.startsWith('/') ? value : join(directory, value) },
    })
    expect(code).toBe(0)
  })

  test('nodes need a place for what they write: a read-only one, or one that is full, is no crash of a service', async () => {
    const readOnly = 'mount -t tmpfs -o ro,mode=1777 lastnail-test /dev/shm'
    for (const name of ['check', 'emulate']) {
      const { code, stdout, stderr } = await onDisks([name, 'tiny.config.mjs'], { before: readOnly })
      expect([code, stdout, linesOf(stderr)]).toEqual([
        69,
        '',
        [expect.stringMatching(/^lastnail: cannot make the directory of run directories: EROFS: /)],
      ])
    }
    const tiny = await onDisks(['check', 'tiny.config.mjs', '--executions', '1', '--workers', '1'], {
      before: 'mount -t tmpfs -o size=800k,mode=1777 lastnail-test /dev/shm',
    })
    expect([tiny.code, tiny.stdout, linesOf(tiny.stderr)]).toEqual([
      69,
      '',
      [expect.stringMatching(/^lastnail: no space is left in \/dev\/shm, where what nodes write is: /)],
    ])
  })

  test('an ordinary user is told where he may not write', async () => {
    const user = 'exec setpriv --reuid=65534 --regid=65534 --clear-groups --'
    const run = async (...args: readonly string[]) => {
      const script = `mount -t tmpfs -o mode=755 lastnail-test /mnt; mkdir /mnt/bin /mnt/package
        touch /mnt/bin/node; mount --bind ${process.execPath} /mnt/bin/node
        mount --rbind ${join(import.meta.dirname, '../../..')} /mnt/package; ${user} /mnt/bin/node /mnt/package/bin/lastnail.js "$@"`
      const all = ['--mount', 'sh', '-c', `set -e; ${script}`, 'sh', ...args]
      return execa('unshare', all, { cwd: directory, env: { HOME: '/nonexistent' }, reject: false, timeout: 60_000 })
    }
    for (const [args, expected] of [
      [['init', '--node', 'a=true'], 'the configuration /.*: EACCES: '],
      [['keep', 'kept.trace', '--out', 'kept'], 'schedules to /.*/kept: EACCES: '],
      [['check', 'tiny.config.mjs', '--out', 'mine'], 'traces to /.*/mine: no permission to write in /'],
    ] as const) {
      const { exitCode, stderr } = await run(...args)
      expect([exitCode, stderr]).toEqual([64, expect.stringMatching(`^lastnail: cannot write ${expected}[^\n]*$`)])
    }
  })

  test('init says why it cannot write, and an alias bomb is a wrong file', async () => {
    for (const [place, reason] of [
      ['full', 'ENOSPC'],
      ['readonly', 'EROFS'],
    ]) {
      const { code, stderr } = await onDisks(['init', '--node', 'a=true'], { before: `cd ${place}` })
      expect([code, stderr]).toEqual([
        64,
        expect.stringMatching(`^lastnail: cannot write the configuration /.*: ${reason}: `),
      ])
    }
    expect(await onDisks(['init', 'bomb.yaml'])).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/^lastnail: \/.*\/bomb\.yaml: its aliases cannot be resolved: [^\n]*$/),
    })
  })

  test('a directory that is gone is no defect', async () => {
    const { code, stderr } = await onDisks(['check', '../large.config.mjs'], {
      before: 'mkdir going; cd going; rmdir ../going',
    })
    expect([code, stderr]).toEqual([64, 'lastnail: the current directory does not exist any more'])
  })
})
