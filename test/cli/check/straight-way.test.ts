import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, start } from '../lastnail.ts'

const files = (property: string) => ({
  'one.config.ts': `
import { always, defineSystem, eventually } from 'lastnail'
export default defineSystem({
  name: 'one-answer',
  nodes: { a: { command: ['node', 'once.cjs'], listens: 8080 } },
  clients: { ann: async ({ a }) => (await a.http(8080, '/')).statusCode },
  properties: { up: ${property}(s => s.nodes.every(n => n.alive)) },
})
`,
  'once.cjs': `
require('node:http').createServer((_, answer) => { answer.end('x'); process.exit(3) }).listen(8080)
`,
})

test.each(['eventually', 'always'])(
  'the straight way makes the calls, with a property that holds %s',
  async property => {
    const { directory, remove } = copyOfFixtures(files(property))
    onTestFinished(remove)
    const { exitCode, stdout } = await start(directory, ['check', 'one.config.ts', '--executions', '1', '--json'])
    expect(exitCode).toBe(1)
    expect(JSON.parse(String(stdout))).toMatchObject({ kind: 'crash', schedule: ['client ann'] })
  },
)
