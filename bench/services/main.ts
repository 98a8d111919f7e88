/**
 * Says of services as they come whether one schedule gives one execution: `npm run bench:services -- [--times N]
 * [--steps N] [--beside N] [NAME…]`. Each is executed again and again by `lastnail repeat`, in a process of its own;
 * with `--check 60s` by `lastnail check` instead: what it finds, steps a second, how executions begin, what is refused, memory. `--beside` keeps so many processes busy meanwhile.
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
