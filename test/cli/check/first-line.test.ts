import { expect, test } from 'vitest'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

/** One lease is over after one second, the other one after three; the second must not end first. */
const files = {
  'lease.js': 'setTimeout(() => console.log("{}"), Number(process.argv[2])); setInterval(() => {}, 700)',
  'lease.config.ts': `
    import { always, defineSystem, jsonLines } from 'lastnail'
    const lease = ms => ({ command: [process.execPath, 'lease.js', ms] })
    export default defineSystem({
      name: 'leases',
      nodes: { one: lease('1000'), three: lease('3000') },
      state: jsonLines('stdout'),
      properties: { oneIsFirst: always(s => s.node('one').state !== undefined || s.node('three').state === undefined) },
    })`,
}

test('a violation that needs clocks apart says so in its first line', { timeout: 60_000 }, async () => {
  const { directory, remove } = copyOfFixtures(files)
  try {
    const { code, stdout } = await lastnail(directory, 'check', 'lease.config.ts', '--executions', '100')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^violated: safety oneIsFirst, only where the clocks of nodes run 2\.[01] s apart$/m)
  } finally {
    remove()
  }
})
