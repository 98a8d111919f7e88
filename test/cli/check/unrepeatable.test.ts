import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { compile, hasCompiler } from '../../harness/held/program.ts'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

/**
 * Counts its timers in a file of the machine, which no boundary holds, and sends the number. Where it begins the file anew as it
 * starts, only a rewound life goes on from what others left; else all lives do.
 */
const counting = `
  const { existsSync, readFileSync, writeFileSync } = require('node:fs')
  const [, , file, beginsAnew, peer] = process.argv
  const socket = require('node:dgram').createSocket('udp4')
  if (beginsAnew === 'true' || !existsSync(file)) writeFileSync(file, '0')
  let heard = 0
  socket.on('message', () => console.log(JSON.stringify({ heard: ++heard })))
  socket.bind(7000, () => setInterval(() => {
    const count = Number(readFileSync(file, 'utf8')) + 1
    writeFileSync(file, String(count))
    socket.send('count ' + count, 7000, peer)
  }, 100))`

const config = (outside: string, beginsAnew: boolean) => `
  import { always, defineSystem, jsonLines } from 'lastnail'
  const node = (name, peer) => ({
    command: ['node', 'counting.cjs', '${outside}/' + name, '${beginsAnew}', '{{' + peer + '.address}}'],
    write: ['${outside}'],
  })
  export default defineSystem({
    name: 'counting',
    nodes: { a: node('a', 'b'), b: node('b', 'a') },
    state: jsonLines('stdout'),
    properties: { fewHeard: always(state => (state.node('a').state?.heard ?? 0) < 1000) },
  })`

const check = async (beginsAnew: boolean, ...args: readonly string[]) => {
  const outside = mkdtempSync(join(tmpdir(), 'lastnail-outside-'))
  const { directory, remove } = copyOfFixtures({
    'counting.cjs': counting,
    'counting.config.mjs': config(outside, beginsAnew),
  })
  onTestFinished(() => {
    remove()
    rmSync(outside, { recursive: true })
  })
  const { code, stdout } = await lastnail(directory, 'check', 'counting.config.mjs', '--json', ...args)
  return { code, ...JSON.parse(stdout) }
}

const bounded = ['--search', 'bounded', '--workers', '1'] as const

test.each([
  ['bounded', 30],
  ['walk', 6],
])(
  'if rewound processes do not repeat, an audit finds it, the %s search goes on with new ones, and says so',
  async (search, executions) => {
    const args = ['--search', search, '--workers', '1', '--executions', `${executions}`]
    const { code, verdict, notes, ...done } = await check(true, ...args)
    expect([code, verdict]).toEqual([0, 'held'])
    expect(done.executions).toBe(executions)
    expect(notes).toContainEqual(
      expect.stringMatching(
        /^[ab]: an execution was done in place and on new processes, and what it sent was not the same in step \d+ .*: all nodes begin with new processes from then on$/,
      ),
    )
    expect(notes).not.toContainEqual(expect.stringMatching(/did not repeat/))
  },
)

test('if new processes do not repeat either, the check ends long before its time, and says so', async () => {
  const { code, verdict, executions, notes } = await check(false, ...bounded, '--for', '10m')
  expect([code, verdict]).toEqual([2, 'undetermined'])
  expect(executions).toBeLessThan(60)
  expect(notes).toContainEqual(expect.stringMatching(/; nothing was left to rely on less: it was ended$/))
})

/**
 * One thread counts up to a number, and another reads how far it has come. With another argument it tells the CPU time in
 * microseconds that counting takes.
 */
const race = `
  if (argc > 2) return count(argv[1]), printf("%ld", clock()), 0;
  pthread_t thread;
  pthread_create(&thread, 0, count, argv[1]);
  long seen = counted;
  printf("{\\"seen\\": %ld}\\n", seen);
  usleep(1000 * (1 + seen % 9973));
  pthread_join(thread, 0);`
const counter = `
#include <pthread.h>
static volatile long counted;
static void *count(void *to) { for (long all = atol(to); counted < all;) counted++; return 0; }`

test.skipIf(!hasCompiler)(
  'a race of threads that compute: turns become longer, that is said, and what is found then repeats (needs cc)',
  { timeout: 240_000 },
  async () => {
    const program = compile(race, { functions: counter, flags: ['-pthread'] })
    // A turn ends after half a second, unless turns are long. This computes for nearly twice as long, because a CPU is
    // not always as fast as during the sample.
    const sample = 500_000_000
    const all = Math.round(
      (sample * 900_000) / Number(execFileSync(program, [String(sample), 'tell'], { encoding: 'utf8' })),
    )
    const { directory, remove } = copyOfFixtures({
      'racing.config.mjs': `
        import { always, defineSystem, jsonLines } from 'lastnail'
        const seen = state => state.node('n').state?.seen ?? 0
        export default defineSystem({
          name: 'racing',
          nodes: { n: { command: ['${program}', '${all}'] } },
          state: jsonLines('stdout'),
          stepLimit: 10_000,
          properties: { countsOn: always(state => seen(state) < ${all}) },
        })`,
    })
    onTestFinished(remove)
    const args = ['racing.config.mjs', '--search', 'bounded', '--workers', '1', '--for', '10m', '--json']
    const { code, stdout } = await lastnail(directory, 'check', ...args)
    const { verdict, property, repeated, executions, notes, trace } = JSON.parse(stdout)
    expect([code, verdict, property, repeated], stdout).toEqual([1, 'violated', 'countsOn', true])
    expect(executions).toBeLessThan(20)
    expect(notes).toContainEqual(
      expect.stringMatching(
        /^3 executions did not count, the first: n computed for half a second without a wait, and had to let others go first; the search went on with turns of up to 5 s for a thread that computes$/,
      ),
    )
    const run = (...args: readonly string[]) => lastnail(directory, ...args)
    const kept = (await run('keep', trace)).stdout.replace(/^kept /, '')
    expect(JSON.parse(readFileSync(kept, 'utf8'))).toMatchObject({ property: 'countsOn', longTurns: true })
    const found = await run('confirm', kept, '--executions', '1', '--json')
    const again = [
      ['replay', trace],
      ['regress', kept],
      ['replay', JSON.parse(found.stdout).trace],
      ['check', 'racing.config.mjs', '--from', trace, '--executions', '1', '--workers', '1'],
      ['check', 'racing.config.mjs', '--from', trace, '--executions', '1', '--workers', '2'],
    ]
    for (const command of again) expect((await run(...command)).code, command.join(' ')).toBe(1)
    await run('keep', trace, '--test')
    expect(readFileSync(join(directory, 'schedules/countsOn.test.ts'), 'utf8')).toContain('\n    longTurns: true,\n')
  },
)
