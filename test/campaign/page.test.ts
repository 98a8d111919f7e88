import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { printed } from '../../cli/printed/printed.ts'
import { lastnail } from '../cli/lastnail.ts'
import { configuration, Service } from './service.ts'

let service: Service
beforeAll(() => {
  service = new Service()
})
afterAll(() => service.remove())

const run = (...args: readonly string[]) => lastnail(service.directory, 'campaign', 'lastnail.config.ts', ...args)

test('a page that cannot be written any more costs neither the result nor the exit code', {
  timeout: 120_000,
}, async () => {
  service.write({
    'lastnail.config.ts': `import { rmSync } from 'node:fs'\n${configuration().replace(
      'always(state => {',
      "always(state => {\n      rmSync('pages', { recursive: true, force: true })",
    )}`,
  })
  mkdirSync(join(service.directory, 'pages'))
  const { code, stdout, stderr } = await run(
    '--executions',
    '2',
    '--workers',
    '1',
    '--page',
    'pages/page.html',
    '--json',
  )
  service.write({ 'lastnail.config.ts': configuration() })
  expect(code, stderr).toBe(0)
  expect(printed.campaign.parse(JSON.parse(stdout))).toMatchObject({ verdict: 'held', executions: 2 })
  expect(stderr).toMatch(/^lastnail: cannot write the page pages\/page\.html: ENOENT/)
})

test('a campaign that does not begin leaves the page of the one before', { timeout: 60_000 }, async () => {
  const page = join(service.directory, 'page.html')
  writeFileSync(page, 'the page before')
  expect(await run('--queue', 'redis://127.0.0.1:1', '--page', 'page.html')).toMatchObject({ code: 69 })
  expect(readFileSync(page, 'utf8')).toBe('the page before')
})

test('a lock that no worker could keep is refused', { timeout: 60_000 }, async () => {
  for (const lock of ['0s', '10ms'])
    expect(await run('--queue', 'redis://127.0.0.1:1', '--lock', lock)).toEqual({
      code: 64,
      stdout: '',
      stderr: `lastnail: option '--lock <duration>' argument '${lock}' is invalid. expected at least 1s.`,
    })
})
