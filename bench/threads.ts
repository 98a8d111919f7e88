/**
 * In how many executions races between threads are found: `node dist/bench/threads.js [--executions 400] [--seeds 3] [WORD…]`
 * checks each program whose file has one of these words, with `threads: 1` and with one order only, and its mended twin. What is
 * found is executed 20 times more, and each program also runs 50 times as it is, on all CPUs.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkConfig } from '../cli/check/check.ts'
import { configOf } from '../cli/config/load-config.ts'
import { inSession } from '../cli/session/session.ts'
import { repeatSchedule } from '../cli/traces/repetition.ts'
import { packageRoot } from './corpus/package-root.ts'
import { build, type Program, programs, systemOf } from './threads/programs.ts'

const { values, positionals } = parseArgs({
  options: {
    executions: { type: 'string', default: '400' },
    seeds: { type: 'string', default: '3' },
    only: { type: 'string', default: 'wrong,first,freely,mended' },
  },
  allowPositionals: true,
})

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

const executionsMax = Number(values.executions)

const sources = join(packageRoot, 'bench/threads/programs')

const found = async (command: readonly string[], version: 'wrong' | 'mended', threads: number, seed: number) => {
  const out = mkdtempSync(join(tmpdir(), 'lastnail-threads-'))
  try {
    const config = configOf(systemOf(command, version, threads))
    const { verdict } = await checkConfig(config, {
      executions: executionsMax,
      seed,
      out,
    })
    const { message, executions, schedule, discovery, seconds } = verdict
    const took = `${seconds.toFixed(0)} s`
    if (verdict.verdict === 'held') return `held in ${executions}, ${took}`
    if (verdict.verdict !== 'violated') return `${verdict.verdict} in ${executions}: ${message}, ${took}`
    const what = verdict.property ?? message.split('\n')[0]
    const preemptions = schedule?.filter(label => label.startsWith('preempt ')) ?? []
    const { times, same } = await inSession(config, { seed: verdict.seed, rewind: true }, ({ cluster, signal }) =>
      repeatSchedule(cluster, schedule ?? [], 20, { rewind: true, mustApply: true, signal }),
    )
    const order = preemptions.join(', ') || 'no preemption'
    return `${what}, execution ${discovery?.execution}, ${took} (${order}), ${same} of ${times} the same`
  } catch (error) {
    return `failed: ${(error as Error).message}`
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

const runsFreely = 50

/** In how many runs it is wrong, as it is; it has a network of its own, because its port is the same each time. */
const freely = (command: readonly string[]): string => {
  const script = 'ip link set lo up; exec python3 "$@"'
  const python = [join(packageRoot, 'bench/threads/freely.py'), String(runsFreely), ...command, 'wrong']
  const env = { ...process.env, GOMAXPROCS: '2' }
  const { stdout, stderr } = spawnSync('unshare', ['-n', 'sh', '-c', script, 'sh', ...python], {
    encoding: 'utf8',
    env,
  })
  return stdout.trim() === '' ? `failed: ${stderr}` : `wrong in ${stdout.trim()} of ${runsFreely} runs`
}

const isAsked = ({ file, name }: Program) =>
  positionals.length === 0 || positionals.some(word => `${file} ${name ?? ''}`.includes(word))

for (const { file, needs, race, name, isAlone } of programs.filter(isAsked)) {
  console.log(`${[file, name].filter(Boolean).join(' ')}: ${race}${has(needs) ? '' : `; not here: ${needs}`}`)
  if (!has(needs)) continue
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-threads-'))
  try {
    const command = [...build(file, sources, directory), ...(name ? [name] : [])]
    const asked = values.only.split(',')
    if (asked.includes('wrong'))
      for (let seed = 1; seed <= Number(values.seeds); seed += 1)
        console.log(`  threads: 1, seed ${seed}: ${await found(command, 'wrong', 1, seed)}`)
    if (asked.includes('first')) console.log(`  one order: ${await found(command, 'wrong', 0, 1)}`)
    if (asked.includes('freely')) console.log(`  freely: ${freely(command)}`)
    if (asked.includes('mended') && !isAlone) console.log(`  mended: ${await found(command, 'mended', 1, 1)}`)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
