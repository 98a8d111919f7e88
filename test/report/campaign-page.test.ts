import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CampaignShown, campaignPage } from '../../report/campaign.ts'
import { hasBrowser, inPage, launch } from './browser.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const round = (ordinal: number) => ({
  ...{ system: 'shops', ordinal, verdict: ordinal === 3 ? 'violated' : 'held', executions: 128 * (ordinal + 1) },
  ...{ steps: 4_711 * (ordinal + 1), states: 900 * (ordinal + 1), seconds: 12.5 },
  message: `no violation in ${128 * (ordinal + 1)} executions; among them every schedule of up to 9 steps`,
})
const shown: CampaignShown = {
  title: 'Campaign: a/directory/with/a/long/name/lastnail.config.ts',
  at: '2026-11-24T22:00:00.000Z',
  commits: ['lastnail.config.ts: 0123456789abcdef0123456789abcdef01234567'],
  verdict: 'violated',
  isOver: true,
  seconds: 3_600,
  rounds: Array.from({ length: 12 }, (_, ordinal) => round(ordinal)),
  bugs: [
    {
      ...{ system: 'shops', property: 'neverOversold', kind: 'safety', bucket: 'f00dfeed', times: 3 },
      message: 'neverOversold does not hold after step 17 (shop2→stock #3 POST /): <b>not a tag</b>',
      file: 'schedules/neverOversold-f00dfeed.json',
      report: '.lastnail/shops/a report.html',
    },
  ],
  growth: Array.from({ length: 50 }, (_, index) => ({
    seconds: 72 * index,
    states: Math.round(900 * Math.sqrt(index)),
  })),
  workers: [
    'machine-1:4711: 812 jobs done, 2 of 2 at work',
    'machine-2:99: lastnail.config.ts: store.js differs from where the campaign was begun',
  ],
  met: ['state.left of neverOversold was there at the end of 1536 of 1536 executions'],
  notes: ['refused was never met in any execution'],
}

describe.skipIf(!hasBrowser)('the page of a campaign, in a browser (needs chromium)', () => {
  let directory: string
  let browser: Browser
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'lastnail-campaign-page-'))
    writeFileSync(join(directory, 'campaign.html'), campaignPage(shown))
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  test.each(['light', 'dark'] as const)(
    'says what there is at any width, loads nothing, and can be read (%s)',
    colors =>
      inPage(
        browser,
        join(directory, 'campaign.html'),
        async page => {
          for (const width of [1400, 1000, 360]) {
            await page.setViewportSize({ width, height: 900 })
            expect(await page.evaluate('document.scrollingElement.scrollWidth'), `${width} px`).toBeLessThanOrEqual(
              width,
            )
            const size = (await page.screenshot({ fullPage: true })).length
            expect(size).toBeGreaterThan(10_000)
          }
          expect(await page.getByRole('link', { name: 'report' }).getAttribute('href')).toBe(
            '.lastnail/shops/a%20report.html',
          )
          expect(await page.getByText('<b>not a tag</b>').count()).toBe(1)
          expect(await page.getByText('state.left of neverOversold was there').isVisible()).toBe(true)
          expect(await page.getByRole('img', { name: '6300 states after 3528 s' }).isVisible()).toBe(true)
          await page.evaluate(axe)
          const { violations }: { violations: { id: string }[] } = await page.evaluate('axe.run()')
          expect(violations.map(({ id }) => id)).toEqual([])
        },
        colors,
      ),
  )
})
