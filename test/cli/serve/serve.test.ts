import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scheduleOf } from '../../../checker/trace/again.ts'
import { readTrace } from '../../../checker/trace/read.ts'
import { hasBrowser, inPage, launch } from '../../report/browser.ts'
import { copyOfFixtures, start } from '../lastnail.ts'
import { recordedIn } from '../recorded.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let url: string
let labels: readonly string[]
let server: ReturnType<typeof start>
let remove: () => void
beforeAll(async () => {
  const copy = copyOfFixtures()
  const { directory } = copy
  remove = copy.remove
  const trace = recordedIn(directory, 'never-written')
  labels = scheduleOf(readTrace(trace))
  server = start(directory, ['serve', trace])
  for await (const line of createInterface(server.stdout!)) {
    url = /http:\S+/.exec(line)?.[0] ?? ''
    break
  }
})
afterAll(async () => {
  server?.kill('SIGINT')
  const ended = await server
  remove()
  expect(ended.exitCode).toBe(0)
})

const ask = async (path: string, asked: unknown, headers: Record<string, string> = {}) => {
  const { port, searchParams } = new URL(url)
  const authorization = `Bearer ${searchParams.get('token')}`
  const body = JSON.stringify(asked)
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) =>
    request({ host: '127.0.0.1', port, path, method: 'POST', headers: { authorization, ...headers } }, resolve)
      .on('error', reject)
      .end(body),
  )
  return { status: response.statusCode, answer: await json(response) }
}

test('who has no token, or comes from another origin, is refused', async () => {
  expect(await ask('/go', { step: 1 }, { authorization: 'Bearer no' })).toMatchObject({ status: 401 })
  expect(await ask('/go', { step: 1 }, { origin: 'http://evil.example' })).toMatchObject({ status: 403 })
  expect(await ask('/go', { step: 1 }, { host: 'evil.example:80' })).toMatchObject({ status: 403 })
  expect((await fetch(url.replace(/token=.*/, ''))).status).toBe(401)
  expect((await fetch(`${url.replace('/?', '/other?')}`)).status).toBe(404)
})

test('nothing but the page’s own script runs in it, and no other page shows it in a frame', async () => {
  const page = await fetch(url)
  const text = await page.text()
  const policy = page.headers.get('content-security-policy')
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-[\w+/=]+'; style-src 'sha256-[\w+/=]+'; img-src data:; /,
  )
  expect(policy).toMatch(/; frame-ancestors 'none'$/)
  expect(text).toContain(`content="${policy!.replace("; frame-ancestors 'none'", '')}"`)
  const headers = { 'x-frame-options': 'DENY', 'x-content-type-options': 'nosniff' }
  expect(Object.fromEntries(page.headers)).toMatchObject(headers)
  const refused = await fetch(url.replace(/token=.*/, ''))
  expect(Object.fromEntries(refused.headers)).toMatchObject({
    ...headers,
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  })
})

test('the processes do what is asked, and say what is wrong with it', async () => {
  expect(await ask('/go', { step: 2 })).toEqual({ status: 200, answer: { at: 2, isBranch: false } })
  expect(await ask('/run', { step: 2, node: 'store', program: ['hostname'] })).toEqual({
    status: 200,
    answer: { exitCode: 0, stdout: 'store', stderr: '' },
  })
  const wrong = [
    ['/go', { step: 9 }, 'there is no step 9: the last that is known is 3'],
    ['/take', { step: 0, label: 'no' }, '"no" is not enabled here'],
    ['/run', { step: 0, node: 'nobody', program: ['ls'] }, 'no node nobody'],
    ['/go', { step: -1 }, 'Too small'],
    ['/go', {}, 'Invalid input'],
  ] as const
  for (const [path, asked, error] of wrong)
    expect(await ask(path, asked)).toEqual({ status: 400, answer: { error: expect.stringContaining(error) } })
})

// Debian's chromium, where it could be installed.
describe.skipIf(!hasBrowser)('in a browser (needs chromium)', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  const processes = (page: Page) => page.getByRole('region', { name: 'The processes' })
  const heading = (page: Page) =>
    page.getByRole('region', { name: 'The selected step' }).getByRole('heading', { level: 2 })

  test('the processes are brought to a step, and run a program there', () =>
    inPage(browser, url, async page => {
      expect(await heading(page).textContent()).toContain('Step 3 of 3')
      await processes(page).getByRole('button', { name: 'bring them here' }).click()
      await processes(page).getByText('stand at step 3').waitFor()
      await processes(page).getByRole('combobox').selectOption('store')
      await processes(page).getByLabel('Program and arguments').fill('hostname')
      await processes(page).getByRole('button', { name: 'run', exact: true }).click()
      await processes(page).locator('pre', { hasText: 'store' }).waitFor()
      await page.evaluate(axe)
      const { violations } = (await page.evaluate('axe.run()')) as { violations: { id: string }[] }
      expect(violations.map(({ id }) => id)).toEqual([])
    }))

  test('another choice begins a branch, which can go on, is still there after a reload, can be saved, and left', () =>
    inPage(browser, url, async page => {
      // Wherever the test before has left it.
      await page.goto(url.replace(/#.*/, '').concat('#3'))
      await page.getByRole('button', { name: '← before' }).click()
      const other = labels[0]![0] === 'a' ? 'b' : 'a'
      await page.getByRole('button', { name: `take ${other}→store #1` }).click()
      await heading(page).getByText('Step 2 of 2').waitFor()
      const next = page.locator('section', { hasText: 'What is possible next' }).last()
      await next.getByRole('button').first().click()
      await heading(page).getByText('Step 3 of 3').waitFor()
      await processes(page).getByText('stand at step 3').waitFor()
      const label = await heading(page).textContent()
      await page.reload()
      expect(await heading(page).textContent()).toBe(label)
      await processes(page).getByText('stand at step 3').waitFor()
      await processes(page).getByRole('button', { name: 'save it up to step 3' }).click()
      const saved = await processes(page).getByText('Saved as').textContent()
      const branch = scheduleOf(readTrace(saved!.replace('Saved as ', '')))
      expect(branch).toHaveLength(3)
      expect(branch[1]).toContain(`${other}→store #1`)
      await processes(page).getByRole('button', { name: 'back to the trace' }).click()
      await processes(page).getByText('stand at step 1').waitFor()
      expect(await processes(page).getByRole('button', { name: 'back to the trace' }).count()).toBe(0)
      expect(await ask('/go', { step: 3 })).toEqual({ status: 200, answer: { at: 3, isBranch: false } })
    }))
})
