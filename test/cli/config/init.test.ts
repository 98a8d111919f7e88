import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { parseProgram } from '../../../cli/config/ask-programs.ts'
import { findConfig } from '../../../cli/config/find-config.ts'
import { initFromPrograms } from '../../../cli/config/init.ts'
import { loadConfig } from '../../../cli/config/load-config.ts'
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
  expect(await lastnail(directory, 'init', ...nodes)).toMatchObject({
    code: 0,
    stdout: 'wrote lastnail.config.ts\nnext: npx lastnail check',
  })
  expect(written(directory)).toContain("web: { command: ['node', 'web.js'], listens: 8080 },")
  expect(written(directory)).toContain("'w-1': { command: ['sh', '-c', 'while sleep 5; do :; done'] },")
  expect(await lastnail(directory, 'check', '--executions', '2', '--workers', '1')).toMatchObject({ code: 0 })
  const again = await lastnail(directory, 'init', ...nodes)
  expect(again).toMatchObject({ code: 64, stderr: expect.stringMatching(/expected no .*lastnail.config.ts yet/) })
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
])('init refuses %s', (_, nodes, why) => {
  const directory = newDirectory()
  expect(() => initFromPrograms(directory, nodes.map(parseProgram))).toThrow(why)
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
