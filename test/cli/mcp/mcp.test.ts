import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command, copyOfFixtures } from '../lastnail.ts'
import { commandOf, processes, processesIn } from '../leftovers.ts'

const { directory, remove } = copyOfFixtures()
const client = new Client({ name: 'test', version: '1' })

const server = () =>
  new StdioClientTransport({ command: process.execPath, args: [command, 'mcp'], cwd: directory, stderr: 'ignore' })

beforeAll(() => client.connect(server()))
afterAll(async () => {
  await client.close()
  remove()
})

/** What a tool answers. */
const ask = async (name: string, asked: Record<string, unknown>, options?: { signal: AbortSignal }) => {
  const { content, isError } = await client.callTool({ name, arguments: asked }, { timeout: 120_000, ...options })
  return { text: (content as { text: string }[])[0]!.text, isError: isError === true }
}

test('the tools are listed with their parameters', async () => {
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['check', 'replay', 'steps', 'state', 'compare', 'run'])
  expect(tools[0]!.inputSchema.properties).toHaveProperty('executions')
})

test('a violation is found, replayed, and looked at step by step', { timeout: 180_000 }, async () => {
  const asked = { config: 'adders.config.ts', property: 'noUpdateLost', for: '2m' }
  const found = JSON.parse((await ask('check', asked)).text)
  expect(found).toMatchObject({ verdict: 'violated', kind: 'safety' })
  const { trace, schedule } = found
  expect(JSON.parse((await ask('replay', { trace })).text)).toMatchObject({ verdict: 'violated', schedule })

  const steps = (await ask('steps', { trace, from: 1 })).text.split('\n')
  expect(steps.slice(0, -1).map(line => line.trim().replace(/^\d+ +/, ''))).toEqual(schedule)
  expect(steps.at(-1)).toBe(`the last step is ${schedule.length}`)

  const last = (await ask('state', { trace, step: schedule.length })).text
  expect(last).toContain('noUpdateLost does not hold')
  expect(last).toContain('\nstore: {"value": 1}')
  expect((await ask('compare', { trace, other: trace })).text).toBe(
    `they have the same ${schedule.length} steps and states`,
  )
  expect(await ask('run', { trace, step: 1, node: 'a', program: ['sh', '-c', 'echo "two words"'] })).toEqual({
    text: 'two words\nexit code 0',
    isError: false,
  })
})

test('mistakes are reported, and the server goes on', async () => {
  const missing = await ask('state', { trace: 'none.trace', step: 1 })
  expect(missing).toEqual({
    text: expect.stringMatching(/^cannot read the trace .*none\.trace: no such file$/),
    isError: true,
  })
  const wrong = await ask('check', { config: 'none.config.ts' })
  expect(wrong).toEqual({
    text: expect.stringMatching(/^cannot read the configuration .*none\.config\.ts/),
    isError: true,
  })
  expect(await ask('check', { config: 3 })).toMatchObject({ isError: true })
  expect(await ask('check', { config: '--help' })).toEqual({
    text: expect.stringMatching(/^cannot read the configuration .*--help/),
    isError: true,
  })
  expect(await ask('replay', { trace: '--help' })).toEqual({
    text: expect.stringMatching(/^cannot read the trace --help: no such file$/),
    isError: true,
  })
})

/** A configuration that can be checked without end, and its nodes. */
const idle = (name: string) => {
  const program = `${name}-${basename(directory)}.cjs`
  writeFileSync(join(directory, program), 'setInterval(() => {}, 1000)')
  writeFileSync(
    join(directory, `${name}.config.ts`),
    `import { always, defineSystem } from 'lastnail'
export default defineSystem({
  name: 'idle',
  nodes: { n: { command: ['node', '${program}'] } },
  properties: { p: always(() => true) },
})`,
  )
  const nodes = () => processes().filter(pid => commandOf(pid).split('\0').includes(program))
  return { asked: { config: `${name}.config.ts`, for: '5m' }, nodes }
}

test('a cancelled check ends, with its processes', { timeout: 120_000 }, async () => {
  const before = processesIn(directory).length
  const { asked, nodes } = idle('cancelled')
  const { signal, abort } = abortable()
  const answer = ask('check', asked, { signal })
  await expect.poll(nodes, { timeout: 60_000 }).not.toEqual([])
  abort()
  await expect(answer).rejects.toThrow()
  await expect.poll(nodes, { timeout: 20_000 }).toEqual([])
  await expect.poll(() => processesIn(directory).length, { timeout: 20_000 }).toBe(before)
})

test('a check whose client is gone ends, with its processes', { timeout: 120_000 }, async () => {
  const before = processesIn(directory).length
  const { asked, nodes } = idle('left')
  const leaving = new Client({ name: 'leaving', version: '1' })
  await leaving.connect(server())
  const answer = leaving.callTool({ name: 'check', arguments: asked }, { timeout: 60_000 }).catch(() => undefined)
  await expect.poll(nodes, { timeout: 60_000 }).not.toEqual([])
  await leaving.close()
  await answer
  await expect.poll(nodes, { timeout: 20_000 }).toEqual([])
  await expect.poll(() => processesIn(directory).length, { timeout: 20_000 }).toBe(before)
})

const abortable = () => {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort('not wanted') }
}
