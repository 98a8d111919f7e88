import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { here } from '../../cli/lastnail.ts'

/** Each prints what a server outside answered it over TLS, with the names and lists of trust that it has by itself. */
const programs = {
  'node.mjs': `const r = await fetch('https://api.example.com/a?x=1', { method: 'POST', body: 'node' })
    console.log(JSON.stringify({ got: await r.json() })); setInterval(() => {}, 1e6)`,
  'client.py': `import json, time, urllib.request
got = json.load(urllib.request.urlopen('https://api.example.com/a?x=1', b'python'))
print(json.dumps({'got': got}), flush=True)
while True: time.sleep(1000)`,
  'curl.sh': `printf '{"got":%s}\\n' "$(curl -sS --data curl 'https://api.example.com/a?x=1')"; exec sleep 1000`,
  'plain.sh': `printf '{"got":"%s"}\\n' "$(curl -sS http://api.example.com/rate)"; exec sleep 1000`,
}

const config = `
import { defineSystem, jsonLines, sometimes } from 'lastnail'
export default defineSystem({
  name: 'outside',
  nodes: {
    node: { command: ['node', 'node.mjs'] },
    python: { command: ['python3', 'client.py'] },
    curl: { command: ['sh', 'curl.sh'] },
    plain: { command: ['sh', 'plain.sh'] },
  },
  outside: {
    'api.example.com:443'({ method, path, query, body }, kept) {
      kept.count = (kept.count ?? 0) + 1
      return { body: { method, path, query, body } }
    },
    'api.example.com:80': { 'GET /rate': { headers: { 'x-a': 'b' }, body: '1.1' } },
  },
  state: jsonLines('stdout'),
  properties: {
    all: sometimes(s => {
      const got = s.nodes.map(({ name, state }) => [name, JSON.stringify(state?.got)])
      const of = body => JSON.stringify({ method: 'POST', path: '/a', query: { x: '1' }, body })
      const right = [['node', of('node')], ['python', of('python')], ['curl', of('curl')], ['plain', '"1.1"']]
      return JSON.stringify(got) === JSON.stringify(right) && s.node('api.example.com').state.count === 3
    }),
  },
})`

const directoryOf = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  for (const [name, content] of Object.entries({ ...programs, 'outside.config.ts': config }))
    writeFileSync(join(directory, name), content)
  return directory
}

test('programs of several languages trust what is outside in a check', async () => {
  const { code, stdout, stderr } = await here(
    directoryOf(),
    'check',
    'outside.config.ts',
    '--executions',
    '3',
    '--json',
  )
  expect(code, stderr).toBe(0)
  const { sometimes } = JSON.parse(stdout.trim().split('\n').at(-1)!)
  expect(sometimes).toEqual({ all: expect.toSatisfy(count => count >= 1) })
})

test.each(['virtual', 'native'])('and in a run at the pace %s', async pace => {
  const run = ['emulate', 'outside.config.ts', '--for', '20s', '--pace', pace, '--json']
  const { code, stdout, stderr } = await here(directoryOf(), ...run)
  expect(code, stderr).toBe(0)
  const { verdict, notes } = JSON.parse(stdout.trim().split('\n').at(-1)!)
  expect({ verdict, notes: notes.filter((note: string) => /never/.test(note)) }).toEqual({ verdict: 'held', notes: [] })
})
