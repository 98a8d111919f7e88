/**
 * Says for unmodified services whether one schedule gives one execution: `npm run bench:services -- [--times N]
 * [--steps N] [--beside N] [NAME…]`. `lastnail repeat` executes each again and again, in its own process.
 * With `--check 60s`, `lastnail check` runs instead: its verdict, steps a second, how executions begin, refused system calls, and
 * memory. `--beside` keeps that many processes busy meanwhile.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { parseArgs } from 'node:util'
import { measure } from './measure.ts'
import { services } from './services.ts'

const { values, positionals } = parseArgs({
  options: {
    times: { type: 'string', default: '50' },
    steps: { type: 'string' },
    beside: { type: 'string', default: '0' },
    check: { type: 'string' },
  },
  allowPositionals: true,
})

const names = positionals.length > 0 ? positionals : Object.keys(services)
const unknown = names.find(name => services[name] === undefined)
if (unknown) throw new Error(`no service ${unknown}: there are ${Object.keys(services).join(', ')}`)
const busy: ChildProcess[] = Array.from({ length: Number(values.beside) }, () =>
  spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
)
try {
  for (const name of names) console.log(`${name}: ${await measure(name, values)}`)
} finally {
  for (const program of busy) program.kill('SIGKILL')
}
