/**
 * Many nodes of a small static program for a minute, at the paces virtual and native: memory, and how long they take to start and end.
 * 1,000, unless COUNT says another number; side by side, unless ROUTERS says of how many nodes the INET between them has.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { row, whole } from '../table.ts'

const count = Number(process.env.COUNT ?? 1000)
const root = join(import.meta.dirname, '../../..')
const config = join(import.meta.dirname, 'heartbeat.config.js')
const directory = mkdtempSync(join(tmpdir(), 'lastnail-thousand-'))

/** In MiB. */
const availableNow = () => Number(/^MemAvailable: *(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))![1]) / 1024
const residentOf = (pid: number) =>
  Number(/^VmHWM:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

const measure = async (pace: string, program: string) => {
  const free = availableNow()
  const begun = Date.now()
  const run = spawn(
    process.execPath,
    [join(root, 'bin/lastnail.js'), 'emulate', config, '--pace', pace, '--out', directory, '--json'],
    { env: { ...process.env, COUNT: String(count), PROGRAM: program }, stdio: ['ignore', 'pipe', 'ignore'] },
  )
  let printed = ''
  run.stdout.on('data', chunk => (printed += chunk))
  const over = once(run, 'close')
  let [resident, least] = [0, free]
  while (run.exitCode === null && run.signalCode === null) {
    resident = Math.max(resident, residentOf(run.pid!))
    least = Math.min(least, availableNow())
    await sleep(200)
  }
  await over
  const ended = Date.now()
  const { verdict, looks, plot, error } = JSON.parse(printed.trim().split('\n').at(-1)!)
  if (error) throw new Error(JSON.stringify(error))
  row(`${count} at ${pace}: ${verdict}, looks`, whole(looks), '')
  row('  the command', whole((ended - begun) / 1000), 's')
  // The plot is drawn when the run is over, before its nodes end.
  row('  of it the end', whole(ended - statSync(plot).mtimeMs), 'ms')
  row('  memory of the tool', whole(resident), 'MiB')
  row('  for each node', (resident / count).toFixed(2), 'MiB')
  row('  memory of all', whole(free - least), 'MiB')
}

try {
  const program = join(directory, 'program')
  execFileSync('cc', ['-O2', '-static', '-o', program, join(root, 'bench/service/heartbeat.c')])
  for (const pace of ['virtual', 'native']) await measure(pace, program)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
