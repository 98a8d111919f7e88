import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeReport } from '../../report/report.ts'
import { hasBrowser, inPage, launch } from './browser.ts'

/** What `report/newcomer.md` says that a newcomer reads, and after how many clicks. */
describe.skipIf(!hasBrowser)('given only the report of a bug of the corpus (needs chromium)', () => {
  let directory: string
  let browser: Browser
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'lastnail-newcomer-'))
    for (const name of ['transport', 'transport.live', 'paxos', 'randtree'])
      copyFileSync(join(import.meta.dirname, 'fixtures', `${name}.trace`), join(directory, `${name}.trace`))
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const open = (name: string, work: (page: Page) => Promise<void>) =>
    inPage(browser, writeReport(join(directory, `${name}.trace`)), work)
  const summary = (page: Page) => page.getByRole('banner').textContent()
  const details = (page: Page) => page.getByRole('region', { name: 'The selected step' }).textContent()
  const row = (page: Page, step: number) => page.locator(`#main-${step}`)

  const expectAll = (text: string | null, parts: readonly string[]) => {
    for (const part of parts) expect(text).toContain(part)
  }

  test('transport-stale-syn: the last nail with no click, its cause with one', () =>
    open('transport', async page => {
      expectAll(await summary(page), [
        'allAcknowledged can never hold again after step 5 (receiver→sender #1 ACK 1768020527)',
        'connection.established from false to true',
        'goes the same way up to step 4, then takes sender timer +100ms instead',
      ])
      await page.getByRole('banner').getByRole('button', { name: 'step 4' }).click()
      expectAll(await details(page), [
        'last state that can recover',
        'Message delivered, sent in step 1',
        '"seq": 272732633,\n  "opened": 1767225600000',
        '-   "connection": {"seq": 1768020527, "opened": 1767225600200}',
        '+   "connection": {"seq": 272732633, "opened": 1767225600000}',
      ])
    }))

  test('paxos-last-promise: no click; one shows the leader drop what it accepted', () =>
    open('paxos', async page => {
      expectAll(await summary(page), ['agreement does not hold after step 10', 'chosen from null to "red"'])
      expectAll(await row(page, 7).textContent(), ['n1→n2 #2 learn 4 green', 'chosen null → "green"'])
      expectAll(await row(page, 8).textContent(), ['n3→n1 #1 promise 6', 'accepted.value "green" → "red"'])
      await row(page, 8).click()
      expectAll(await details(page), [
        '"accepted": null',
        '-   "accepted": {"round": 4, "value": "green"}',
        '+   "accepted": {"round": 6, "value": "red"}',
      ])
    }))

  test('randtree-forceroot: what is wrong with no click, its cause with one', () =>
    open('randtree', async page => {
      expectAll(await summary(page), ['forceRootMatches does not hold after step 23', 'mismatches from 0 to 1'])
      expectAll(await details(page), ['"root": "10.77.0.2n1:7000"', '"root": "10.77.0.3n2:7000"', '"state": "joining"'])
      await row(page, 9).click()
      expectAll(await details(page), [
        '-   "parent": "10.77.0.3n2:7000"',
        '+   "parent": null',
        '    "root": "10.77.0.3n2:7000"',
      ])
    }))
})
