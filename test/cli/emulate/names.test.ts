import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

const asker = `
const { lookup } = require('node:dns')
const ask = () => lookup('primary', 4, (error, address) => console.log(JSON.stringify({ address: error?.code ?? address })))
setInterval(ask, 500)
`

const config = `
import { always, defineSystem, jsonLines } from 'lastnail'
export default defineSystem({
  name: 'names',
  nodes: { a: { command: ['node', 'asker.js'] }, db1: { command: ['sleep', 'inf'] }, db2: { command: ['sleep', 'inf'] } },
  names: { primary: ['db1', 'db2'] },
  state: jsonLines(),
  properties: { isFirst: always(s => s.node('a').state?.address !== '10.77.0.4') },
})
`

const made = (churn: string) => {
  const { directory, remove } = copyOfFixtures({ 'asker.js': asker, 'names.config.ts': config, 'churn.txt': churn })
  onTestFinished(remove)
  return directory
}

const emulate = (directory: string, ...options: readonly string[]) =>
  lastnail(directory, 'emulate', 'names.config.ts', '--churn', 'churn.txt', '--for', '3s', '--json', ...options)

test('a script lets a name mean another node, and the trace has it', { timeout: 120_000 }, async () => {
  const directory = made('1200ms name primary db2\n')
  const [one, other] = [await emulate(directory), await emulate(directory)].map(({ stdout }) => JSON.parse(stdout))
  expect(one).toMatchObject({ verdict: 'violated', property: 'isFirst', hash: other.hash })
  const { steps } = readTrace(join(directory, one.trace))
  const changes = steps.filter(({ choice }) => choice?.kind === 'name')
  expect(changes.map(({ atMs, choice }) => [atMs, choice?.label])).toEqual([[1200, 'name primary is db2']])
  const seen = steps
    .flatMap(({ states }) => states)
    .flatMap(each => (each.node === 'a' ? [JSON.stringify(each.state)] : []))
  expect([...new Set(seen)].slice(-2)).toEqual(['{"address":"10.77.0.3"}', '{"address":"10.77.0.4"}'])
})

test('a plan with a name that cannot mean the node is refused, and so is a name at the pace native', async () => {
  const refused = async (churn: string, ...options: readonly string[]) => {
    const { code, stdout } = await emulate(made(churn), ...options)
    return [code, JSON.parse(stdout).error?.message]
  }
  expect(await refused('1s name primary a\n')).toEqual([64, expect.stringContaining('cannot mean a, but db1, db2')])
  expect(await refused('1s name other db2\n')).toEqual([64, expect.stringContaining('there is no name "other"')])
  const native = await refused('1s name primary db2\n', '--pace', 'native')
  expect(native).toEqual([64, expect.stringContaining('"name" is not there at the pace native')])
})
