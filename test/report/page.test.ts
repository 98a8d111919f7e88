import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kinds, prediction } from '../../checker/happening/kinds.ts'
import { pageOf } from '../../report/html.ts'
import { reportPath, writeReport } from '../../report/report.ts'
import { hasBrowser, inPage, launch } from './browser.ts'
import { historyTrace } from './history-trace.ts'
import { syntheticTrace } from './synthetic.ts'

const fixtures = join(import.meta.dirname, 'fixtures')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lastnail-report-'))
  for (const name of ['transport.trace', 'transport.live.trace', 'before-enabled.trace'])
    copyFileSync(join(fixtures, name), join(directory, name))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const reportOf = (name: string) => writeReport(join(directory, name))

/** The page of a long run. */
const longReport = (length: number) => {
  const path = join(directory, `${length}.html`)
  writeFileSync(path, pageOf(syntheticTrace(length)))
  return path
}

test('a report lies beside its trace, and 1,000 steps with all kinds of choices are below 2 MB', () => {
  expect(reportOf('transport.trace')).toBe(join(directory, 'transport.html'))
  expect(reportPath('a/b')).toBe('a/b.html')
  expect(statSync(longReport(1000)).size).toBeLessThan(400_000)
})

test('of payloads that cannot be compressed only beginnings are kept, so that the page stays below 2 MB', () => {
  const trace = syntheticTrace(1000)
  const noise = Buffer.alloc(65_536)
  let state = 1
  for (const index of noise.keys()) noise[index] = (state = (state * 48_271) % 2_147_483_647) >> 8
  const steps = trace.steps.map(step => ({
    ...step,
    messages: step.messages.map(message => ({ ...message, bytes: noise, length: noise.length })),
    outputs: step.outputs.map(output => ({ ...output, bytes: noise })),
  }))
  expect(pageOf({ ...trace, steps }, { ...trace, steps }).length).toBeLessThan(2_000_000)
})

test('what a service prints cannot break out of the page', () => {
  const trace = syntheticTrace(2)
  const header = { ...trace.header, system: '</title><script>alert(1)</script>' }
  expect(pageOf({ ...trace, header })).not.toContain('<script>alert')
})

// Debian's chromium, where it could be installed.
describe.skipIf(!hasBrowser)('in a browser (needs chromium)', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  const details = (page: Page) => page.getByRole('region', { name: 'The selected step' })
  const rows = (page: Page) => page.getByRole('listbox', { name: 'Steps of the execution' }).getByRole('option')
  const liveRows = (page: Page) => page.getByRole('listbox', { name: 'closest live' }).getByRole('option')
  const heading = (page: Page) => details(page).getByRole('heading', { level: 2 })
  const elements = (page: Page) => page.locator('*').count()

  test('its legend explains every kind of step, with a mark each', () =>
    inPage(browser, reportOf('transport.trace'), async page => {
      const lines = page.locator('details.legend ul').first().locator('li')
      const explained = [...Object.values(kinds), prediction].map(({ happens }) => happens)
      expect(await lines.allTextContents()).toEqual(explained)
      expect(await lines.locator('.glyph:has(path)').count()).toBe(explained.length)
    }))

  test('predictions and steering have marks on its time axis, which lead to their steps', () => {
    const trace = syntheticTrace(100)
    const label = 'steer lose n1→n2 #1'
    const steps = trace.steps.map(step =>
      step.index === 60 ? { ...step, choice: { kind: 'steer' as const, node: 'n2', label } } : step,
    )
    const predicted = [{ step: 20, what: 'safety quiet', steps: 4, deviations: 1 }]
    const end = { verdict: { ...(trace.end!.verdict as object), predicted } }
    const path = join(directory, 'steered.html')
    writeFileSync(path, pageOf({ ...trace, steps, end }))
    return inPage(browser, path, async page => {
      const marks = page.getByRole('list', { name: 'Predictions and steering' }).getByRole('button')
      expect(await marks.evaluateAll(all => all.map(mark => mark.ariaLabel))).toEqual([
        'step 20: safety quiet is predicted in 4 steps, 1 deviation',
        `step 60: ${label}`,
      ])
      expect(await marks.locator('.glyph').evaluateAll(all => all.map(glyph => glyph.classList[1]))).toEqual([
        'prediction',
        'steer',
      ])
      const boxOf = async (place: Locator) => (await place.boundingBox())!
      const axis = await boxOf(page.locator('.timeline svg').first())
      const places = [await boxOf(marks.first()), await boxOf(marks.last())]
      const shares = places.map(({ x, width }) => (x + width / 2 - axis.x) / axis.width)
      expect(shares.map(share => Math.round(50 * share))).toEqual([10, 30])
      await marks.first().click()
      expect(await heading(page).textContent()).toContain('Step 20 of 100')
      expect(await details(page).textContent()).toContain('safety quiet is predicted in 4 steps, 1 deviation')
      await marks.last().click()
      expect(await heading(page).textContent()).toContain('Step 60 of 100')
    })
  })

  test('it opens at the critical transition, and says what died of what', () =>
    inPage(browser, reportOf('transport.trace'), async page => {
      expect(await page.title()).toBe('transport: allAcknowledged violated')
      expect(await heading(page).textContent()).toContain('Step 5 of 5')
      const summary = page.getByRole('banner')
      for (const text of [
        'allAcknowledged can never hold again after step 5',
        'which changes sender’s unacknowledged from ["m1","m2"] to ["m2"]',
        'goes the same way up to step 4, then takes sender timer +100ms instead',
      ])
        expect(await summary.textContent()).toContain(text)
      expect(await details(page).locator('ins').allTextContents()).toContain('+   "unacknowledged": ["m2"],\n')
      const others = await details(page).locator('.enabled').first().textContent()
      expect(others).toMatch(/sender timer \+100ms\s+taken here by the live execution/)
    }))

  test('a click on a step shows it; links lead to where its message was sent', () =>
    inPage(browser, reportOf('transport.trace'), async page => {
      await rows(page).nth(4).click()
      expect(await heading(page).textContent()).toContain('Step 4 of 5')
      expect(await details(page).textContent()).toContain('"type": "SYN"')
      await details(page).getByText('as bytes').first().click()
      expect(await details(page).locator('.hex').first().textContent()).toMatch(/^000000 {2}7b 22 74 79 70 65/)
      await details(page).getByRole('button', { name: 'step 1' }).first().click()
      expect(await heading(page).textContent()).toContain('Step 1 of 5')
      expect(page.url()).toMatch(/#1$/)
      expect(await page.locator('[aria-selected=true]').textContent()).toBe(
        '1sender timer +100mssender: connection.syns 1 → 2',
      )
    }))

  test('the keyboard alone is enough', () =>
    inPage(browser, reportOf('transport.trace'), async page => {
      const after = async (key: string) => {
        await page.keyboard.press(key)
        return (await heading(page).textContent())!.replace(/←.*/, '').trim()
      }
      expect(await after('Home')).toBe('Step 0 of 5')
      expect(await after('ArrowDown')).toBe('Step 1 of 5')
      expect(await after('End')).toBe('Step 5 of 5')
      expect(await after('ArrowRight')).toBe('Live execution, step 5 of 9')
      expect(await after('End')).toBe('Live execution, step 9 of 9')
      expect(await after('ArrowUp')).toBe('Live execution, step 8 of 9')
      expect(await after('c')).toBe('Step 5 of 5')
      await page.keyboard.press('/')
      await page.keyboard.type('timer')
      // As aligned rows: of either execution.
      expect(await rows(page).count()).toBe(3)
      await page.keyboard.press('Escape')
      expect(await after('Home')).toBe('Step 1 of 5')
    }))

  test('steps are filtered by node, kind and text, and by what led to one', () =>
    inPage(browser, longReport(1000), async page => {
      const count = async () => Number.parseInt((await page.locator('.count').textContent())!, 10)
      expect(await count()).toBe(1001)
      const trace = syntheticTrace(1000)
      await page.getByLabel('kind').selectOption('crash')
      expect(await count()).toBe(trace.steps.filter(({ choice }) => choice?.kind === 'crash').length)
      await page.getByLabel('kind').selectOption('')
      await page.getByLabel('Text or regular expression').fill('gossip 77$')
      expect(await count()).toBe(2)
      await page.getByLabel('Text or regular expression').fill('no such thing')
      expect(await page.locator('.nothing').textContent()).toBe('No step matches.')
      await page.getByLabel('Text or regular expression').fill('')
      await page.getByLabel('node').selectOption('n2')
      const ofNode = await count()
      expect(ofNode).toBeGreaterThan(100)
      expect(ofNode).toBeLessThan(1000)
      await page.getByLabel('node').selectOption('')
      await page.getByLabel('Step', { exact: true }).fill('5')
      await page.getByLabel('only what led to it').check()
      expect(await count()).toBeLessThan(7)
    }))

  test('the closest live execution stands beside, and can be put away', () =>
    inPage(browser, reportOf('transport.trace'), async page => {
      expect(await liveRows(page).count()).toBe(10)
      expect(await liveRows(page).nth(5).textContent()).toBe(
        '5sender timer +100msfirst differencesender: connection.syns 1 → 2',
      )
      await page.getByRole('banner').getByRole('button', { name: 'step 9' }).click()
      expect(await details(page).textContent()).toContain('✓ allAcknowledged holds')
      await page.getByLabel('closest live execution beside').uncheck()
      expect(await liveRows(page).count()).toBe(0)
      // Effects of Preact run after the next frame.
      await expect.poll(() => heading(page).textContent()).toContain('Step 5 of 5')
    }))

  test('in an emulated run each row shows its time, and each message how long it was in flight', () => {
    const trace = syntheticTrace(60)
    const steps = trace.steps.map(step => ({ ...step, atMs: 250 * step.index }))
    const path = join(directory, 'timed.html')
    writeFileSync(path, pageOf({ ...trace, steps }))
    return inPage(browser, path, async page => {
      // Rows are there once they are scrolled to.
      await expect.poll(() => rows(page).last().textContent()).toMatch(/^15\.000 s60/)
      const taken = steps.findLast(({ choice }) => choice?.kind === 'deliver')!
      await rows(page).filter({ hasText: taken.choice!.label }).last().click()
      expect(await details(page).textContent()).toContain(`at ${250 * taken.index} ms`)
      expect(await details(page).textContent()).toMatch(/Message delivered, sent in step \d+, \d+ ms in flight/)
    })
  })

  test('an older trace is shown without what it does not tell', () =>
    inPage(browser, reportOf('before-enabled.trace'), async page => {
      expect(await details(page).textContent()).toContain('it is of a run at the pace native, or of an older version')
      expect(await page.getByRole('banner').textContent()).toContain('which changes n1’s mismatches from 0 to 1')
    }))

  test('of 20,000 steps the page holds only the visible ones, wherever it is scrolled', () =>
    inPage(browser, longReport(20_000), async page => {
      const number = async () => Number(await page.locator('[aria-selected=true] .number').textContent())
      expect(await number()).toBe(20_000)
      expect(await elements(page)).toBeLessThan(1500)
      for (const share of [0, 0.3, 0.7]) {
        await page.locator('.scroller').evaluate((element, share) => {
          element.scrollTop = element.scrollHeight * share
        }, share)
        const first = rows(page).first()
        await expect
          .poll(async () => Number(await first.locator('.number').textContent()))
          .toBeCloseTo(20_000 * share, -2)
        expect(await elements(page)).toBeLessThan(1500)
      }
      for (let times = 0; times < 4; times += 1) await page.getByRole('button', { name: 'Zoom out' }).click()
      expect(await page.getByRole('button', { name: 'Zoom out' }).isDisabled()).toBe(true)
      expect(await elements(page)).toBeLessThan(4000)
      await page.keyboard.press('PageUp')
      expect(await heading(page).textContent()).toContain('Step 19980 of 20000')
    }))

  test('printed, all steps are there', () =>
    inPage(browser, longReport(300), async page => {
      expect(await rows(page).count()).toBeLessThan(100)
      await page.evaluate('dispatchEvent(new Event("beforeprint"))')
      expect(await rows(page).count()).toBe(301)
      await page.evaluate('dispatchEvent(new Event("afterprint"))')
      await expect.poll(() => rows(page).count()).toBeLessThan(100)
    }))

  const historyReport = () => {
    const path = join(directory, 'history.html')
    writeFileSync(path, pageOf(historyTrace(), undefined, '/srv/a b/linearizable.trace'))
    return path
  }

  test('what clients saw is drawn from invocation to return, and what contradicts each other is marked', () =>
    inPage(browser, historyReport(), async page => {
      const clients = page.getByRole('region', { name: 'What clients saw' })
      const bars = await clients.getByRole('button', { name: /, from step/ }).all()
      expect(await Promise.all(bars.map(bar => bar.getAttribute('aria-label')))).toEqual([
        'ann, from step 2 to 9: write 1',
        'bob, from step 3 to 6: read → 1, contradicts',
        'bob, from step 10 to 14: read → 0, contradicts',
        'cid, from step 11, without an answer: write 2 → unknown',
      ])
      const [ann, , later] = await Promise.all(bars.map(bar => bar.boundingBox()))
      expect(later!.x).toBeGreaterThanOrEqual(ann!.x + ann!.width)
      // By the keyboard alone.
      await bars[2]!.focus()
      await page.keyboard.press('Enter')
      expect(await heading(page).textContent()).toContain('Step 14 of 16')
      expect(await details(page).getByRole('row').allTextContents()).toHaveLength(4)
      const again = page.getByRole('region', { name: 'Execute it again' })
      expect(await again.textContent()).toContain("npx lastnail replay '/srv/a b/linearizable.trace'")
      await again.getByText('As a vitest test').click()
      expect(await again.textContent()).toContain("await expect('/srv/register/lastnail.config.ts').toHold({")
    }))

  test.each(['light', 'dark'] as const)(
    'nothing is cut off or squeezed at any width, on paper neither, in %s',
    colors =>
      inPage(
        browser,
        historyReport(),
        async page => {
          for (const [width, media] of [
            [400, 'screen'],
            [700, 'screen'],
            [1000, 'screen'],
            [1600, 'screen'],
            [760, 'print'],
          ] as const) {
            await page.setViewportSize({ width, height: 900 })
            await page.emulateMedia({ media })
            expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
            // A letter a line would be higher.
            for (const fact of await page.locator('footer dd').all())
              expect((await fact.boundingBox())!.height).toBeLessThan(100)
            const badge = page.locator('.details .badge').first()
            expect(
              await badge.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth),
            ).toBeLessThanOrEqual(0)
            const picture = await page.screenshot({ fullPage: true })
            expect(picture.length).toBeGreaterThan(20_000)
          }
        },
        colors,
      ),
  )

  test('the heads of columns are whole, also where two executions stand side by side', () => {
    const { header, steps, end } = syntheticTrace(12)
    const nodes = ['primary', 'secondary'].map((name, index) => ({ ...header.nodes[index]!, name }))
    const called = { ...steps[1]!, choice: { kind: 'client', node: 'client ann', label: 'client ann' } as const }
    // A node that is seen and not in the header has a column too.
    const unseen = steps.with(1, called).map(step => ({ ...step, states: [] }))
    const trace = { ...{ end, torn: undefined, steps: unseen }, header: { ...header, nodes } }
    const path = join(directory, 'heads.html')
    writeFileSync(path, pageOf(trace, trace))
    return inPage(browser, path, async page => {
      for (const width of [1400, 500]) {
        await page.setViewportSize({ width, height: 900 })
        await page.reload()
        await page.getByRole('heading', { level: 1 }).waitFor()
        const heads = await page.locator('.lane').all()
        expect(heads.length).toBeGreaterThan(4)
        for (const head of heads)
          expect(await head.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThanOrEqual(
            0,
          )
      }
    })
  })

  test.each(['light', 'dark'] as const)('a report is accessible in %s', colors =>
    inPage(
      browser,
      reportOf('transport.trace'),
      async page => {
        const violations = async () => {
          await page.evaluate(axe)
          const found: { violations: { id: string; nodes: { html: string }[] }[] } = await page.evaluate('axe.run()')
          return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
        }
        expect(await violations()).toEqual([])
        await rows(page).nth(3).click()
        await page.getByText('Legend and keys').click()
        await page.getByText('States of all nodes after this step').click()
        expect(await violations()).toEqual([])
        await page.goto(`file://${historyReport()}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
        expect(await violations()).toEqual([])
      },
      colors,
    ),
  )
})
