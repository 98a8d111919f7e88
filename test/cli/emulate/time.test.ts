import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, here, lastnail, start } from '../lastnail.ts'
import { controlOf } from '../running.ts'

const randtree = join(import.meta.dirname, '../../../examples/corpus/randtree')

/** Four nodes of a tree over an internet, of which one comes later, and two leave. */
const tree = `
import { always, defineSystem, eventually, type GlobalState, jsonLines } from 'lastnail'
const names = ['n1', 'n2', 'n3', 'n4']
const address = (name: string) => \`{{\${name}.address}}:7000\`
export default defineSystem({
  name: 'tree',
  nodes: Object.fromEntries(
    names.map(name => [
      name,
      { command: ['node', 'node.js', address(name), ...['n1', 'n2'].filter(peer => peer !== name).map(address)], cwd: ${JSON.stringify(randtree)} },
    ]),
  ),
  state: jsonLines('stdout'),
  properties: {
    allJoin: eventually((s: GlobalState) => s.nodes.every(n => !n.alive || n.state?.state === 'joined')),
    ...(process.env.STRICT ? { never: always((s: GlobalState) => s.node('n3').state?.state !== 'joined') } : {}),
  },
  emulation: {
    topology: { kind: 'transit-stub', nodes: 100, meanRtt: 130 },
    churn: 'plan.txt',
    initial: 3,
    for: '40s',
    clocks: { n2: { driftPpm: 200, offsetMs: -500 } },
    joined: n => n.state?.state === 'joined',
  },
})
`
const plan =
  '5s join n4\n12s leave n3 kill\n18s join n3\n22s partition n1,n2 n3,n4\n26s heal\n30s leave n4 cut\n33s join n4\n'

const files = () => {
  const { directory, remove } = copyOfFixtures({ 'tree.config.ts': tree, 'plan.txt': plan })
  onTestFinished(remove)
  return directory
}

const emulate = async (directory: string, ...args: readonly string[]) => emulateBy(here, directory, ...args)

const emulateBy = async (run: typeof here, directory: string, ...args: readonly string[]) => {
  const { code, stdout, stderr } = await run(directory, 'emulate', ...args, '--json')
  expect(stderr).not.toMatch(/\n\s+at /)
  return { code, summary: JSON.parse(stdout) }
}

test('the same seed gives the same run, whose trace is one as any other', { timeout: 120_000 }, async () => {
  const directory = files()
  const { summary, code } = await emulate(directory, 'tree.config.ts')
  expect(summary).toMatchObject({ verdict: 'held', pace: 'virtual', virtualSeconds: 40, looks: 40, crashes: 0 })
  expect(code).toBe(0)
  const again = await emulateBy(lastnail, directory, 'tree.config.ts')
  expect(again.summary.hash).toBe(summary.hash)
  const other = await emulate(directory, 'tree.config.ts', '--seed', '2', '--for', '10s')
  expect(other.summary.hash).not.toBe(summary.hash)

  const trace = readTrace(join(directory, summary.trace))
  expect(trace.steps).toHaveLength(summary.steps + 1)
  const planned = trace.steps.filter(({ choice }) => /^(join|leave|part|heal all)/.test(choice?.label ?? ''))
  expect(planned.map(({ choice, atMs }) => `${atMs} ${choice?.label}`)).toEqual([
    '5000 join n4',
    '12000 leave n3 kill',
    '18000 join n3',
    '22000 part n1,n2 n3,n4',
    '26000 heal all',
    '30000 leave n4 cut',
    '33000 join n4',
  ])
  // Time does not go back, and a clock that gains goes ahead of the others.
  const times = trace.steps.map(({ atMs }) => atMs ?? 0)
  expect(times).toEqual(times.toSorted((one, two) => one - two))
  expect(await here(directory, 'replay', summary.trace)).toMatchObject({ code: 0 })
  expect(await here(directory, 'report', summary.trace)).toMatchObject({ code: 0 })
})

test('a violation counts if the same steps violate again; a search can begin at any step of the run', {
  timeout: 120_000,
}, async () => {
  const directory = files()
  const config = readFileSync(join(directory, 'tree.config.ts'), 'utf8')
  writeFileSync(join(directory, 'tree.config.ts'), config.replace('process.env.STRICT', 'true'))
  const { code, summary } = await emulate(directory, 'tree.config.ts', '--for', '8s')
  expect(summary).toMatchObject({ verdict: 'violated', kind: 'safety', property: 'never' })
  expect(code).toBe(1)
  expect(await here(directory, 'replay', summary.trace)).toMatchObject({ code: 1 })
  const shrunk = JSON.parse((await here(directory, 'shrink', summary.trace, '--json')).stdout)
  expect(shrunk).toMatchObject({ verdict: 'violated', property: 'never', repeated: true })
  expect(await here(directory, 'replay', shrunk.trace)).toMatchObject({ code: 1 })
  // Its pipes and plans are kept with it, so that a later build can be told from this one.
  const kept = await here(directory, 'keep', shrunk.trace)
  expect(kept.stdout).toMatch(/^kept /)
  expect(await here(directory, 'regress')).toMatchObject({ code: 1, stdout: expect.stringMatching(/^fails: /) })
  expect(await here(directory, 'keep', '--test', shrunk.trace)).toMatchObject({ code: 64 })
  const { steps } = readTrace(join(directory, summary.trace))
  const first = steps.findIndex(({ properties }) => properties.some(({ name, holds }) => name === 'never' && !holds))
  const from = `${summary.trace}:${first - 1}`
  const found = await here(
    directory,
    ...['check', 'tree.config.ts', '--from', from, '--for', '20s', '--workers', '1', '--property', 'never', '--json'],
  )
  const outcome = JSON.parse(found.stdout)
  expect(outcome).toMatchObject({ verdict: 'violated', property: 'never', repeated: true })
  expect(await here(directory, 'replay', outcome.trace)).toMatchObject({ code: 1 })
})

test('at the pace real the clock waits, commands take effect, and a replay needs no commands', {
  timeout: 120_000,
}, async () => {
  const directory = files()
  const run = start(directory, ['emulate', 'counter.config.ts', '--pace', 'real', '--for', '1h', '--json'])
  onTestFinished(() => void run.kill('SIGKILL'))
  const { control } = await controlOf(run)
  while ((await control.list()).elapsedMs < 1500) await sleep(50)
  expect((await control.kill('counter')).nodes[0]).toMatchObject({ name: 'counter', isAlive: false })
  expect((await control.join('counter')).nodes[0]).toMatchObject({ isAlive: true })
  await control.impair('reader', 'counter', { delayMs: 40 }, true)
  await expect(control.impair('reader', 'counter', { delayMs: 0, duplicate: 0.5 })).rejects.toThrow(
    'packets come twice (--duplicate) at the pace native alone, this run is at real',
  )
  await expect(control.kill('nobody')).rejects.toThrow('no node nobody: known are counter, reader')
  const before = (await control.list()).elapsedMs
  while ((await control.list()).elapsedMs < before + 1000) await sleep(50)
  run.kill('SIGINT')
  const summary = JSON.parse(String((await run).stdout))
  expect(summary).toMatchObject({ pace: 'real', faults: 2, late: { p50: expect.any(Number) } })
  const inputs = readTrace(join(directory, summary.trace)).steps.flatMap(({ input }) => (input ? [input] : []))
  expect(inputs).toMatchObject([{ does: 'leave', manner: 'kill' }, { does: 'join' }, { does: 'set' }])
  expect(await here(directory, 'replay', summary.trace)).toMatchObject({ code: 0 })
})

test('a run that is over before its first look says nothing', async () => {
  const { code, summary } = await emulate(files(), 'tree.config.ts', '--for', '0s')
  expect(summary).toMatchObject({ verdict: 'undetermined', looks: 0 })
  expect(code).toBe(2)
})

test.each([
  ['--pace', 'slow', /expected 'virtual', 'real' or 'native'/],
  ['--topology', 'small.json', /cannot place "n1": the topology has a node of that name/],
])('%s %s is refused', async (option, value, message) => {
  const directory = files()
  writeFileSync(join(directory, 'small.json'), JSON.stringify({ nodes: [{ id: 'n1', role: 'stub' }], links: [] }))
  const { code, stderr } = await here(directory, 'emulate', 'tree.config.ts', option, value)
  expect(stderr).toMatch(message)
  expect(code).toBe(64)
})
