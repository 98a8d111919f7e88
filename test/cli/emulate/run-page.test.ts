import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { hasBrowser, inPage, launch } from '../../report/browser.ts'
import { copyOfFixtures, start } from '../lastnail.ts'

describe.skipIf(!hasBrowser)(`the page of a running system${hasBrowser ? '' : ' (needs Chromium)'}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /** Emulates two nodes until the test is over, and gives the address of the page. */
  const served = async (pace: string): Promise<string> => {
    const { directory, remove } = copyOfFixtures({
      'ticks.js': `
        const socket = require('node:dgram').createSocket('udp4').bind(7000)
        setInterval(() => socket.send('at', 7000, process.argv[2]), 50)
        setInterval(() => console.log(JSON.stringify({ at: 1 })), 1000)`,
      'ticks.config.ts': `
        import { defineSystem, jsonLines } from 'lastnail'
        const node = to => ({ command: ['node', 'ticks.js', '{{' + to + '.address}}'] })
        export default defineSystem({
          name: 'ticks',
          nodes: { a: node('b'), b: node('a') },
          state: jsonLines('stdout'),
          emulation: { topology: { kind: 'star', nodes: 5 }, for: '1h' },
        })`,
    })
    const run = start(directory, ['emulate', 'ticks.config.ts', '--serve', '--pace', pace])
    onTestFinished(async () => {
      run.kill('SIGINT')
      await run
      remove()
    })
    let said = ''
    run.stderr!.on('data', chunk => (said += chunk))
    for (;;) {
      const [, url] = /page at (\S+)\n/.exec(said) ?? []
      if (url !== undefined) return url
      if (run.exitCode !== null) throw new Error(`it ended: ${said}`)
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }

  test.each(['real', 'native'])('at the pace %s shows nodes and series, and does what its buttons say', async pace => {
    await inPage(browser, await served(pace), async page => {
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('ticks')
      const row = page.getByRole('row', { name: /^a / })
      await row.getByText('up', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'kill a' }).click()
      await row.getByText('down', { exact: true }).waitFor()
      await page.getByText('nodes that are up: 1').waitFor()
      await page.getByRole('button', { name: 'join a' }).click()
      await row.getByText('up', { exact: true }).waitFor()
      await page.getByLabel('groups').fill('a b')
      await page.getByRole('button', { name: 'partition' }).click()
      await page.getByText('a | b').waitFor()
      await page.getByRole('button', { name: 'heal' }).click()
      await page.getByText('none', { exact: true }).waitFor()
      expect(await page.getByRole('img', { name: 'topology' }).locator('text').allTextContents()).toEqual(['a', 'b'])
    })
  })

  test('the topology shows load and cuts, and forms do what control can', async () => {
    await inPage(browser, await served('native'), async page => {
      const topology = page.getByRole('img', { name: 'topology' })
      const fill = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text)
      const click = (name: string) => page.getByRole('button', { name, exact: true }).click()
      const shown = async (what: string, count: number) => {
        while ((await topology.locator(what).count()) !== count) await page.waitForTimeout(50)
      }
      await topology.locator('path.load').first().waitFor({ state: 'attached' })
      await fill('now', 'partition a b')
      await click('do')
      await shown('circle.side', 2)
      await fill('now', 'heal')
      await click('do')
      await shown('circle.side', 0)
      await fill('link', 'a')
      await click('link down')
      await shown('path.cut', 1)
      await click('link as before')
      await shown('path.cut', 0)
      await fill('delay, ms', '20')
      await click('set link')
      await shown('path.changed', 1)
      await fill('from', 'a')
      await fill('to', 'b')
      await click('cut way')
      await shown('path.cut', 1)
      await click('way as before')
      await shown('path.cut', 0)
      await fill('plan', '400h leave b kill')
      await click('plan')
      await page.getByText('1440000 s b leaves (kill)').waitFor()
      await fill('new node', 'c')
      await fill('like', 'a')
      await click('add')
      await shown('text', 3)
      expect(await topology.locator('text').allTextContents()).toEqual(['a', 'b', 'c'])
      await fill('in node', 'c')
      await fill('run', 'hostname')
      await click('run')
      await page.getByText('exit code 0').waitFor()
      expect(await page.locator('output pre').textContent()).toBe('c')
      await fill('now', 'pause nobody')
      await click('do')
      await page.getByRole('alert').getByText('no node nobody').waitFor()
      expect(await page.getByLabel('now', { exact: true }).inputValue()).toBe('pause nobody')
    })
  })
})
