/**
 * Checks programs of others for bugs that were published with a figure: `npm run bench:public -- [--for 120s] [--seed N]
 * [--newest] [NAME…]`. With `--newest`, the newest releases, which must hold. Each release is installed once, into a
 * directory of this machine's temporary files.
 */
import { parseArgs } from 'node:util'
import { bugs } from './bugs.ts'
import { checkBug, rowOf } from './check-bug.ts'

const { values, positionals } = parseArgs({
  options: {
    for: { type: 'string', default: '120s' },
    seed: { type: 'string', default: '1' },
    newest: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})

const named = bugs.filter(({ id }) => positionals.length === 0 || positionals.includes(id))
if (named.length === 0) throw new Error(`no such bug: there are ${bugs.map(({ id }) => id).join(', ')}`)
const wanted = values.newest ? named.filter(({ newest }) => newest !== undefined) : named

console.log(
  '| bug | release | published | found after | CPU time | in execution | steps, shrunk | all executions | verdict |',
)
console.log('| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |')
for (const bug of wanted) {
  const release = values.newest ? bug.newest! : bug.affected
  console.log(rowOf(bug, release, await checkBug(bug, release, values)))
}
