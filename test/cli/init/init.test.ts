import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { findConfig } from '../../../cli/config/find-config.ts'
import { loadConfig } from '../../../cli/config/load-config.ts'
import { parseProgram } from '../../../cli/init/ask-programs.ts'
import { initFromPrograms } from '../../../cli/init/init.ts'
import { command, here as lastnail } from '../lastnail.ts'

const newDirectory = (files: Readonly<Record<string, string>> = {}): string => {
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-init-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  return directory
}

const written = (directory: string) => readFileSync(join(directory, 'lastnail.config.ts'), 'utf8')

test('init writes a commented configuration of programs, which check takes without being told its name', async () => {
  const directory = newDirectory({
    'web.js': "require('node:http').createServer((_, response) => response.end()).listen(8080)",
  })
  const nodes = ['--node', 'web:8080=node web.js', '--node', "w-1=sh -c 'while sleep 5; do :; done'"]
  const answers = ['/', '/state', '/status', '/health', '/healthz'].map(path => `${path} 200`).join(', ')
  expect(await lastnail(directory, 'init', ...nodes)).toMatchObject({
    code: 0,
    stdout: [
      `web listens on 8080 (HTTP: ${answers})`,
      'w-1 listens on no TCP port',
      'wrote lastnail.config.ts',
      'next: npx lastnail check',
    ].join('\n'),
  })
  expect(written(directory)).toContain("web: { command: ['node', 'web.js'], listens: 8080 },")
  expect(written(directory)).toContain("'w-1': { command: ['sh', '-c', 'while sleep 5; do :; done'] },")
  expect(await lastnail(directory, 'check', '--executions', '2', '--workers', '1')).toMatchObject({ code: 0 })
  const again = await lastnail(directory, 'init', ...nodes)
  expect(again).toMatchObject({ code: 64, stderr: expect.stringMatching(/expected no .*lastnail.config.ts yet/) })
})

test('init calls what speaks HTTP and sees its state, so that a check with what it wrote finds something', async () => {
  const directory = newDirectory({
    'stock.js': `let left = 1
require('node:http').createServer((request, response) => {
  if (request.method === 'POST') left -= 1
  if (request.url !== '/' && request.url !== '/state') response.statusCode = 404
  response.end(request.url === '/state' ? JSON.stringify({ left }) : String(left))
}).listen(8080)`,
    // It fails where it gets the one answer before the other: both calls are under way at once.
    'shop.js': `let asking = 0
const http = require('node:http')
http.createServer((_, response) => {
  asking += 1
  http.get('http://stock:8080/', answer => {
    answer.resume()
    response.statusCode = asking > 1 ? 500 : 200
    asking -= 1
    response.end()
  })
}).listen(8000)`,
  })
  const nodes = ['--node', 'shop=node shop.js', '--node', 'stock=node stock.js', '--node', 'none=sleep infinity']
  const { code, stdout } = await lastnail(directory, 'init', ...nodes)
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `shop listens on 8000 (HTTP: / 200, /state 200, /status 200, /health 200, /healthz 200)
stock listens on 8080 (HTTP: / 200, /state 200 JSON, /status 404, /health 404, /healthz 404)
none listens on no TCP port
wrote lastnail.config.ts
next: npx lastnail check`,
  })
  const config = written(directory)
  expect(config).toContain("shop: { command: ['node', 'shop.js'], listens: 8000 },")
  expect(config).toContain('messages: { 8000: frames.http1(), 8080: frames.http1() },')
  expect(config).toContain("bob: async nodes => (await nodes.stock.http(8080, '/')).statusCode,")
  expect(config).toContain("['stock'].includes(node.name) ? (await node.http(8080, '/state')).body.json() : undefined")
  expect(await lastnail(directory, 'check', '--executions', '4', '--workers', '1')).toMatchObject({ code: 0 })
  // Two people at the shop, as somebody writes next.
  const both = config.replace("nodes.stock.http(8080, '/')", "nodes.shop.http(8000, '/')")
  writeFileSync(join(directory, 'lastnail.config.ts'), both)
  const found = await lastnail(directory, 'check', '--executions', '60', '--workers', '1')
  expect([found.code, found.stdout]).toEqual([1, expect.stringContaining('violated: safety noServerError')])
})

test('init takes the JSON that a node prints as its state, and a port that speaks something else for what it is', async () => {
  const directory = newDirectory({
    'store.js': `console.log('{"keys":0}')
require('node:net').createServer(socket => socket.on('data', () => socket.end('-ERR unknown command'))).listen(6379)
require('node:net').createServer(() => {}).listen(7000)`,
  })
  const { code, stdout } = await lastnail(directory, 'init', '--node', 'store=node store.js')
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: 'store listens on 6379, 7000, and prints JSON\nwrote lastnail.config.ts\nnext: npx lastnail check',
  })
  const config = written(directory)
  expect(config).toContain("store: { command: ['node', 'store.js'], listens: [6379, 7000] },")
  expect(config).toContain("state: jsonLines('stdout'),")
  expect(config).toContain('// clients: { put:')
})

test('init writes a configuration of nodes that do not start, and says why they do not', async () => {
  const directory = newDirectory({ 'broken.js': "throw new Error('no database')" })
  const { code, stdout } = await lastnail(directory, 'init', '--node', 'web:8080=node broken.js')
  expect(code).toBe(0)
  expect(stdout).toContain(
    'the nodes could not be started to look at them: the service does not start: web ended with code 1',
  )
  expect(stdout).toContain('no database')
  expect(stdout).toMatch(/wrote lastnail.config.ts\nnext: npx lastnail check$/)
  expect(written(directory)).toContain("web: { command: ['node', 'broken.js'], listens: 8080 },")
})

/** As a person at a terminal, who waits for each question. */
const answer = async (directory: string, ...answers: readonly string[]) => {
  const terminal = execa('script', ['-qec', `${process.execPath} ${command} init`, '/dev/null'], {
    ...{ cwd: directory, all: true, reject: false, stdin: 'pipe' },
  })
  let left = [...answers]
  let shown = ''
  terminal.all.on('data', chunk => {
    shown += chunk
    if (!/: [^\n]*$/.test(shown)) return
    shown = ''
    const [next, ...others] = left
    left = others
    if (next !== undefined) terminal.stdin!.write(next)
  })
  const { exitCode, all } = await terminal
  return { exitCode, all }
}

test('at a terminal init asks, and asks again for what it cannot read', async () => {
  const directory = newDirectory()
  const answers = ['stock\r', "node 'stock.js\r", 'node stock.js\r', '808o\r', '8080 9090\r', '\r']
  const { exitCode, all } = await answer(directory, ...answers)
  expect(exitCode, all).toBe(0)
  expect(all).toContain("expected a closing '")
  expect(all).toContain('expected ports from 1 to 65535, found "808o"')
  expect(written(directory)).toContain("stock: { command: ['node', 'stock.js'], listens: [8080, 9090] },")
})

test('Ctrl-C at a question of init writes nothing', async () => {
  const directory = newDirectory()
  const { exitCode, all } = await answer(directory, 'stock\r', 'node stock.js\r', '\r', '\x03')
  expect({ exitCode, all }).toMatchObject({
    exitCode: 64,
    all: expect.stringContaining('interrupted: nothing is written'),
  })
  expect(existsSync(join(directory, 'lastnail.config.ts'))).toBe(false)
})

test('without a terminal and without programs init says in one line what it takes', async () => {
  const { code, stdout, stderr } = await lastnail(newDirectory(), 'init')
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' })
  expect(stderr).toMatch(/^lastnail: expected a compose file, or a node for each process: lastnail init --node .*$/)
})

test.each([
  ['no command', ['web'], /expected a node such as 'web:8080=node web.js'/],
  ['an empty command', ['web='], /expected a command/],
  ['an open quote', ['web=node "web.js'], /expected a closing "/],
  ['a wrong port', ['web:99999=node web.js'], /expected ports from 1 to 65535, found "99999"/],
  ['two of one name', ['web=a', 'web=b'], /expected nodes of different names, found two named web/],
  ['no host name', ['w_b=a'], /names of letters, digits and inner hyphens/],
])('init refuses %s', async (_, nodes, why) => {
  const directory = newDirectory()
  await expect(async () => initFromPrograms(directory, nodes.map(parseProgram))).rejects.toThrow(why)
  expect(existsSync(join(directory, 'lastnail.config.ts'))).toBe(false)
})

test('the configuration of a directory is the one of our name, or else the only one that imports this package', () => {
  const ours = "import { defineSystem } from 'lastnail'\n"
  const other = "import { defineConfig } from 'vitest/config'\n"
  expect(findConfig(newDirectory({ 'shop.config.ts': ours, 'vitest.config.ts': other }))).toBe('shop.config.ts')
  expect(findConfig(newDirectory({ 'shop.config.ts': ours, 'lastnail.config.ts': ours }))).toBe('lastnail.config.ts')
  expect(() => findConfig(newDirectory({ 'a.config.ts': ours, 'b.config.mjs': ours }))).toThrow(
    /a.config.ts, b.config.mjs/,
  )
  expect(() => findConfig(newDirectory({ 'vitest.config.ts': other }))).toThrow(/"lastnail init" writes one/)
})

test('what init writes is a configuration, whatever a compose file or a command is called', async () => {
  const directory = newDirectory({ "ann's shop.yaml": 'services: { web: { image: web, command: serve } }' })
  expect(await lastnail(directory, 'init', "ann's shop.yaml")).toMatchObject({ code: 0 })
  expect((await loadConfig(join(directory, 'lastnail.config.ts'))).definition.name).toBe('ann-s-shop')
  const other = newDirectory()
  await lastnail(other, 'init', '--node', "w=sh -c 'sleep 1\nsleep 2'")
  const { nodes } = (await loadConfig(join(other, 'lastnail.config.ts'))).definition
  expect(nodes).toMatchObject({ w: { command: ['sh', '-c', 'sleep 1\nsleep 2'] } })
})
