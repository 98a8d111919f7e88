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
      'ticks.js': `setInterval(() => console.log(JSON.stringify({ at: 1 })), 1000)`,
      'ticks.config.ts': `
        import { defineSystem, jsonLines } from 'lastnail'
        const node = { command: ['node', 'ticks.js'] }
        export default defineSystem({
          name: 'ticks',
          nodes: { a: node, b: node },
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
})
