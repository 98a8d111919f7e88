import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

const counter = `
import time
while True:
    time.sleep(1)
    try: count = int(open('/srv/count').read())
    except FileNotFoundError: count = 0
    with open('/srv/count', 'w') as file: file.write(str(count + 1))
    print('{"count": %d}' % (count + 1), flush=True)
`

const config = `
import { defineSystem, eventually, jsonLines } from 'lastnail'
const node = { command: ['python3', 'counter.py'] }
export default defineSystem({
  name: 'counters',
  nodes: { a: node, b: node },
  shared: { counts: { a: '/srv', b: '/srv' } },
  state: jsonLines(),
  properties: { bothCount: eventually(s => s.nodes.some(({ state }) => state?.count > 3)) },
})
`

const made = () => {
  const { directory, remove } = copyOfFixtures({ 'counter.py': counter, 'shared.config.ts': config })
  onTestFinished(remove)
  return directory
}

const emulated = async (directory: string, ...options: readonly string[]) =>
  JSON.parse((await lastnail(directory, 'emulate', 'shared.config.ts', '--json', ...options)).stdout)

test('nodes of a run share a directory, in virtual time and natively', { timeout: 120_000 }, async () => {
  const directory = made()
  const one = await emulated(directory, '--for', '5s')
  expect(one).toMatchObject({ verdict: 'held', notes: [] })
  expect(await emulated(directory, '--for', '5s')).toMatchObject({ verdict: 'held', hash: one.hash })
  expect(await emulated(directory, '--for', '8s', '--pace', 'native')).toMatchObject({ verdict: 'held' })
})

test('what shares a directory is not searched alone', { timeout: 60_000 }, async () => {
  const { code, stderr } = await lastnail(made(), 'check', 'shared.config.ts', '--search', 'local')
  expect(stderr).toContain('`local` executes each node alone, which this system cannot do')
  expect(code).toBe(64)
})
