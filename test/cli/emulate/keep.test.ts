import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, here as lastnail, start } from '../lastnail.ts'

/** Two nodes that send each other 4 kB ten times a second, and count what they get. */
const config = `
import { always, defineSystem, history, type GlobalState, jsonLines } from 'lastnail'
const node = (peer: string) => ({ command: ['python3', 'chatter.py', \`{{\${peer}.address}}\`] })
export default defineSystem({
  name: 'chatter',
  nodes: { a: node('b'), b: node('a') },
  state: jsonLines('stdout'),
  properties: {
    few: always((s: GlobalState) => s.nodes.every(({ state }) => (state?.got ?? 0) < Number(process.env.MOST ?? 1000))),
    grows: always(history((most: number | undefined, s: GlobalState) => Math.max(most ?? 0, s.node('a').state?.got ?? 0), () => true)),
  },
  emulation: { for: '40s', topology: { kind: 'transit-stub', nodes: 100, meanRtt: 30 } },
})
`
const chatter = `
import json, os, select, socket, sys, time
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.bind(('0.0.0.0', 7000))
got = 0
while True:
    own.sendto(os.urandom(4096), (sys.argv[1], 7000))
    until = time.monotonic() + 0.1
    while (left := until - time.monotonic()) > 0:
        if select.select([own], [], [], left)[0]:
            own.recv(8192)
            got += 1
            print(json.dumps({'got': got}), flush=True)
`

test('of a long run, --keep records the end as a whole and an outline of the rest', { timeout: 180_000 }, async () => {
  const { directory, remove } = copyOfFixtures({ 'chatter.config.ts': config, 'chatter.py': chatter })
  onTestFinished(remove)
  const run = async (...args: readonly string[]) => {
    const { stdout, stderr } = await lastnail(directory, 'emulate', 'chatter.config.ts', ...args, '--json')
    expect(stderr).not.toMatch(/\n\s+at /)
    const { hash, trace, verdict } = JSON.parse(stdout)
    expect(verdict).toBe('held')
    return { hash, trace, path: join(directory, trace) }
  }
  const whole = await run()
  const kept = await run('--keep', '5s')
  expect(kept.hash).toBe(whole.hash)
  expect(statSync(kept.path).size).toBeLessThan(statSync(whole.path).size / 2)

  const [before, after] = [readTrace(whole.path).steps, readTrace(kept.path).steps]
  expect(after.map(({ choice, atMs }) => [choice?.label, atMs])).toEqual(
    before.map(({ choice, atMs }) => [choice?.label, atMs]),
  )
  const from = after.findIndex(({ keeps }) => keeps === undefined)
  expect(after.at(-1)!.atMs! - after[from]!.atMs!).toBeGreaterThanOrEqual(5000)

  const verified = await lastnail(directory, 'verify', kept.trace, '--json')
  const { verdict, notes, violations } = JSON.parse(verified.stdout)
  expect({ verdict, violations }).toEqual({ verdict: 'undetermined', violations: [] })
  expect(notes).toEqual([
    `properties were evaluated from step ${from - 1} on: of earlier steps only an outline is kept`,
    'grows carries a value from the start, of which only an outline is kept',
  ])
  // What the nodes had printed before is known where the whole steps begin.
  const edited = await start(directory, ['verify', kept.trace, '--json'], { env: { MOST: '300' } })
  expect(JSON.parse(String(edited.stdout)).violations).toMatchObject([
    { property: 'few', state: { a: { got: expect.any(Number) } } },
  ])
  expect(await lastnail(directory, 'replay', kept.trace)).toMatchObject({ code: 0 })
  expect(await lastnail(directory, 'report', kept.trace)).toMatchObject({ code: 0 })
})
