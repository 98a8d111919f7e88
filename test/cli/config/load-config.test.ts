import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { loadConfig } from '../../../cli/config/load-config.ts'
import { ConfigError, resolveSystem } from '../../../harness/config/config.ts'
import { runRoot } from '../../../harness/files/run-root.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lastnail-config-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

const write = (name: string, content: string) => {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

const problemsOf = async (path: string) => {
  try {
    await loadConfig(path)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

const nodes = `nodes: { n1: { command: ['node', 'server.js'] } }`

test('a TypeScript configuration has the package, types, its own imports and a place on the disk', async () => {
  write('leaders.ts', 'export const leaders = (states: readonly { role: string }[]): number => states.length\n')
  const content = `
    import { always, eventually, defineSystem, frames, jsonLines, type NodeView, type SystemDefinition } from 'lastnail'
    import { leaders } from './leaders.ts'

    const roles = (nodes: readonly NodeView[]) => nodes.flatMap(node => (node.state ? [node.state] : []))
    export default defineSystem({
      name: 'raft',
      ${nodes},
      state: jsonLines('stdout'),
      messages: frames.jsonLines(),
      properties: {
        safe: always(s => leaders(roles(s.nodes)) <= 1),
        live: eventually(s => s.nodes.length > 0),
      },
    }) satisfies SystemDefinition
  `
  const path = write('raft.config.ts', content)
  const config = await loadConfig(path)
  expect(config.path).toBe(path)
  expect(config.sha256).toBe(createHash('sha256').update(content).digest('hex'))
  const system = resolveSystem(config.definition, { directory })
  expect(Object.entries(system.properties).map(([name, { kind }]) => [name, kind])).toEqual([
    ['safe', 'always'],
    ['live', 'eventually'],
  ])
  expect(system.dissectorOf(1)?.name).toBe('JSON lines')
  expect(system.properties.safe!.holds({ nodes: [], calls: [] } as never)).toBe(true)
})

test('what was translated is kept for later commands, if nobody else can change it there', async () => {
  const path = write(
    'once.config.ts',
    `import { defineSystem } from 'lastnail'\nexport default defineSystem({ name: 'once' as string, ${nodes} })`,
  )
  const home = mkdtempSync(join(tmpdir(), 'lastnail-home-'))
  vi.stubEnv('XDG_CACHE_HOME', home)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(home, { recursive: true })
  })
  const cache = join(home, 'lastnail/configurations')
  expect((await loadConfig(path)).translated).toBe(cache)
  const [file, ...others] = readdirSync(cache)
  expect(others).toEqual([])
  expect(readFileSync(join(cache, file!), 'utf8')).toMatch(/name: ['"]once['"],/)
  chmodSync(cache, 0o777)
  expect((await loadConfig(path)).translated.startsWith(runRoot())).toBe(true)
  rmSync(cache, { recursive: true })
  symlinkSync(home, cache)
  expect((await loadConfig(path)).translated.startsWith(runRoot())).toBe(true)
})

test.each([
  ['config.js', `import { defineSystem } from 'lastnail'\nexport default defineSystem({ name: 'js', ${nodes} })`],
  [
    'config.mjs',
    `import { defineSystem } from 'lastnail'\nexport default defineSystem({ name: await 'mjs', ${nodes} })`,
  ],
  [
    'config.cjs',
    `const { defineSystem } = require('lastnail')\nmodule.exports = defineSystem({ name: 'cjs', ${nodes} })`,
  ],
])('%s is loaded', async (name, content) => {
  const { definition } = await loadConfig(write(name, content))
  expect(`config.${definition.name}`).toBe(name)
})

test('a path is relative to the current directory', async () => {
  const path = write(
    'near.ts',
    `import { defineSystem } from 'lastnail'\nexport default defineSystem({ name: 'near', ${nodes} })`,
  )
  expect((await loadConfig(relative(process.cwd(), path))).path).toBe(path)
})

test('a configuration that is not there is named', async () => {
  const path = join(directory, 'absent.ts')
  expect(await problemsOf(path)).toEqual([`cannot read the configuration ${path}: no such file`])
  const folder = join(directory, 'folder')
  mkdirSync(folder)
  expect(await problemsOf(folder)).toEqual([`cannot read the configuration ${folder}: it is a directory`])
})

test('a file that does not parse', async () => {
  const path = write('syntax.ts', `export default {\n  name: 'x' y\n}\n`)
  expect(await problemsOf(path)).toEqual([`${path}:2:13: Unexpected token, expected ","`])
})

test('an import that does not parse', async () => {
  const helper = write('broken.ts', 'export const x = (\n')
  expect(await problemsOf(write('imports-broken.ts', `import { x } from './broken.ts'\nexport default x`))).toEqual([
    `${helper}:2:1: Unexpected token`,
  ])
})

test('an import that cannot be found', async () => {
  const path = write('lost.ts', `import x from 'no-such-package-anywhere'\nexport default x`)
  expect(await problemsOf(path)).toEqual([`${path}: cannot find module 'no-such-package-anywhere'`])
  const other = write('lost-file.ts', `import x from './no-such-file.ts'\nexport default x`)
  expect(await problemsOf(other)).toEqual([`${other}: cannot find module './no-such-file.ts'`])
})

test('a configuration that throws is named, with the place', async () => {
  const path = write('throws.ts', `const nodes = undefined as any\n\nexport default nodes.n1\n`)
  expect(await problemsOf(path)).toEqual([
    `${path}:3: threw TypeError: Cannot read properties of undefined (reading 'n1')`,
  ])
  const odd = write('throws-odd.ts', `throw 'no error'\n`)
  expect(await problemsOf(odd)).toEqual([`${odd}: threw 'no error'`])
})

test('a configuration without a default export is refused', async () => {
  const path = write('named.ts', `export const name = 'x'\n`)
  expect(await problemsOf(path)).toEqual([`${path}: expected a default export made by defineSystem(…), found none`])
  const empty = write('empty.ts', '')
  expect(await problemsOf(empty)).toEqual([`${empty}: expected a default export made by defineSystem(…), found none`])
})

test('a default export that defineSystem did not make', async () => {
  const path = write('plain.ts', `export default { name: 'x', ${nodes} }\n`)
  expect(await problemsOf(path)).toEqual([
    `${path}: expected a default export made by defineSystem(…), found { name: 'x', nodes: [Object] }`,
  ])
})

test('a configuration is read again with what it imports, because files may have changed', async () => {
  const path = write(
    'again.config.ts',
    `import { name } from './name.ts'
     import { defineSystem } from 'lastnail'
     export default defineSystem({ name, ${nodes} })`,
  )
  write('name.ts', `export const name = 'before'`)
  expect((await loadConfig(path)).definition.name).toBe('before')
  write('name.ts', `export const name = 'after'`)
  expect((await loadConfig(path)).definition.name).toBe('after')
})
