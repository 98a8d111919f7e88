import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'

const executablePath = '/usr/bin/chromium'

/** Debian's package: `scripts/install.mjs` installs it where it can. */
export const hasBrowser = existsSync(executablePath)

/** It is told to leave the network alone, which its pages do not need. */
const args = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

export const launch = (): Promise<Browser> => chromium.launch({ executablePath, args })

const isServed = (place: string) => place.startsWith('http:')
const isOf = (place: string, url: string) => isServed(place) && new URL(place).origin === new URL(url).origin

/** What the browser notes where a server refused what was asked: the page says why. */
const refusal = /^Failed to load resource: the server responded with a status of 400 /

/**
 * Opens a file, or what is served at an address, as its reader does, does what is asked, and then expects that nothing was
 * loaded from elsewhere and nothing complained of.
 */
export const inPage = async (
  browser: Browser,
  place: string,
  work: (page: Page) => Promise<void>,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<void> => {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, colorScheme })
  const complaints: string[] = []
  page.on('console', message => {
    if (!refusal.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('request', request => {
    if (!/^(file|data):/.test(request.url()) && !isOf(place, request.url()))
      complaints.push(`asked for ${request.url()}`)
  })
  try {
    await page.goto(isServed(place) ? place : `file://${place}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await work(page)
    expect(complaints).toEqual([])
  } finally {
    await page.close()
  }
}
