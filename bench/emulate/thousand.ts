/** 1,000 nodes of a small static program for a minute, at the paces virtual and native: memory, and how long they take to start and end. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { row, whole } from '../table.ts'

const count = 1000
const root = join(import.meta.dirname, '../../..')
const directory = mkdtempSync(join(tmpdir(), 'lastnail-thousand-'))

/** In MiB. */
const availableNow = () => Number(/^MemAvailable: *(\d+)/m.exec(readFileSync('/proc/meminfo', 'utf8'))![1]) / 1024
const residentOf = (pid: number) =>
  Number(/^VmHWM:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

const measure = async (pace: string, program: string) => {
  const config = join(import.meta.dirname, 'heartbeat.config.js')
  const free = availableNow()
  const begun = performance.now()
  const run = spawn(
    process.execPath,
    [join(root, 'bin/lastnail.js'), 'emulate', config, '--pace', pace, '--out', directory, '--json'],
    { env: { ...process.env, COUNT: String(count), PROGRAM: program }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let [said, printed, endingAt] = ['', '', 0]
  run.stdout.on('data', chunk => (printed += chunk))
  run.stderr.on('data', chunk => {
    said += chunk
    if (endingAt === 0 && said.includes('ending')) endingAt = performance.now()
  })
  const over = once(run, 'exit')
  let [resident, least] = [0, free]
  while (run.exitCode === null) {
    resident = Math.max(resident, residentOf(run.pid!))
    least = Math.min(least, availableNow())
    await sleep(200)
  }
  await over
  const ended = performance.now()
  const { verdict, seconds, looks } = JSON.parse(printed.trim().split('\n').at(-1)!)
  row(`${count} at ${pace}: ${verdict}, looks`, whole(looks), '')
  row('  the command', whole((ended - begun) / 1000), 's')
  row('  of it the run', whole(seconds), 's')
  if (endingAt > 0) row('  the end', whole(ended - endingAt), 'ms')
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
