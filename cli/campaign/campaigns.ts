import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { QueueEngine } from '../../campaign/queue/engine.ts'
import { counted } from '../../checker/system/brief.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { waitingForOthers } from '../../harness/hold/turns/interruption.ts'
import { checkOption } from '../command/check-options.ts'
import { exitCode, unlessUnwritten } from '../command/exit-code.ts'
import { defaultMs } from '../command/options.ts'
import { print } from '../command/print.ts'
import { statusLine } from '../command/progress.ts'
import { duration, wholeNumber } from '../command/values.ts'
import { type LoadedConfig, loadConfig } from '../config/load-config.ts'
import { whileUninterrupted } from '../session/interrupt.ts'
import { requireAbilities } from '../session/machine.ts'

// Modules that only one command needs are imported by that command, as in main.ts.

/** The commands of campaigns: `campaign` hands out work, `worker` does it. */
export const addCampaignCommands = (root: Command, done: (code: number) => void): void => {
  root
    .command('campaign')
    .description('checks systems again and again, here or on any number of machines, and keeps what it finds')
    .argument('<configs...>', 'TypeScript or JavaScript files, or compose files')
    .option('--queue <url>', 'Redis URL; workers on any machine then do the work: redis://:PASSWORD@HOST:PORT')
    .addOption(checkOption('milliseconds', 'how long (60s, unless executions are limited)'))
    .addOption(checkOption('executions', 'limit for each system'))
    .addOption(checkOption('seed', 'seed of the searches and of the nodes’ random numbers'))
    .option('--workers <n>', 'processes that search here; with --queue, jobs under way at once', workersOf)
    .addOption(checkOption('property'))
    .addOption(checkOption('out'))
    .option('--schedules <directory>', 'directory for kept schedules (schedules/, beside each configuration)')
    .option('--page <file>', 'writes a page that shows the progress, and keeps it up to date')
    .option('--lock <duration>', 'with --queue: a worker that is silent for this long loses its job', lockOf, 15_000)
    .option('--json', 'prints one JSON object as the last line')
    .action(async (files: readonly string[], options: CampaignArguments) => done(await campaign(files, options)))

  root
    .command('worker')
    .description('works for campaigns whose programs this machine has too, until it is asked to end')
    .requiredOption('--queue <url>', 'Redis: redis://:PASSWORD@HOST:PORT')
    .option('--workers <n>', 'processes that search (one for each CPU)', workersOf)
    .action(async ({ queue, workers = availableParallelism() }: { queue: string; workers?: number }) => {
      requireAbilities()
      const [{ requireRedis, shownUrl }, { workFor }, { slots }, { programsOf }] = await Promise.all([
        import('../../campaign/queue/redis.ts'),
        import('../../campaign/queue/redis-worker.ts'),
        import('../workers/slot.ts'),
        import('../config/programs.ts'),
      ])
      await requireRedis(queue)
      say(`waits for campaigns of ${shownUrl(queue)}, with ${workers} ${workers === 1 ? 'process' : 'processes'}`)
      const performers = slots(workers)
      await whileUninterrupted(signal =>
        waitingForOthers(() =>
          workFor({
            ...{ url: queue, performers, signal, onLine: say },
            programsOf: async file => programsOf(await loadConfig(file)),
          }).finally(() => performers.end()),
        ),
      )
    })
}

interface CampaignArguments {
  readonly queue?: string
  readonly for?: number
  readonly executions?: number
  readonly seed: number
  readonly workers?: number
  readonly property?: string
  readonly out: string
  readonly schedules?: string
  readonly page?: string
  readonly lock: number
  readonly json?: boolean
}

const say = (line: string) => void process.stderr.write(`lastnail: ${line}\n`)

const workersMax = 4_096

const workersOf = (text: string): number => {
  const count = wholeNumber(text)
  if (count < 1 || count > workersMax)
    throw new InvalidArgumentError(`expected a whole number from 1 to ${workersMax}.`)
  return count
}

/** Workers renew their locks twice in this time. If it were shorter, a busy one would lose its jobs again and again. */
const lockMsMin = 1_000

const lockOf = (text: string): number => {
  const time = duration(text)
  if (time < lockMsMin) throw new InvalidArgumentError('expected at least 1s.')
  return time
}

const campaign = async (
  files: readonly string[],
  { for: forMs, queue, workers, json, page, lock, ...options }: CampaignArguments,
): Promise<number> => {
  const [{ describeCampaign, outcomeOfCampaign, runCampaign }, { CampaignPage }] = await Promise.all([
    import('./campaign.ts'),
    import('./campaign-page.ts'),
  ])
  const milliseconds = forMs ?? (options.executions === undefined ? defaultMs : undefined)
  const configs = await Promise.all(files.map(file => loadConfig(file)))
  requireDistinct(configs)
  const shown = page === undefined ? undefined : new CampaignPage(page, files)
  const engine = await engineFor(configs, { queue, workers, lock })
  const line = statusLine()
  try {
    const came = await whileUninterrupted(signal =>
      runCampaign(configs, {
        ...{ ...options, milliseconds, engine, signal },
        onChange: change => {
          const { rounds, bugs } = change
          line.update(
            `${counted(rounds.length, 'round')} · ${counted(change.states, 'state')} · ${counted(bugs.length, 'bug')}`,
          )
          shown?.update(change, () => engine.workers())
        },
      }),
    )
    const outcome = outcomeOfCampaign(came)
    line.end()
    await shown
      ?.end(came, () => engine.workers())
      .catch((error: Error) => say(`cannot write the page ${page}: ${error.message}`))
    const notes = [...outcome.notes, ...came.unwritten]
    print(json ? JSON.stringify({ ...outcome, notes }) : describeCampaign(outcome, came))
    return unlessUnwritten(exitCode[outcome.verdict], came.unwritten)
  } finally {
    line.end()
    await engine.close()
  }
}

const requireDistinct = (configs: readonly LoadedConfig[]): void => {
  const names = configs.map(({ definition }) => definition.name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new UsageError(`expected systems of different names, found two named "${twice}"`)
}

const redisIs = {
  well: 'is back',
  lost: 'is lost: the campaign continues once it is back',
  full: 'is full and takes no more jobs: the campaign continues once there is room (maxmemory)',
} as const

/** Number of jobs under way at once with a queue. Workers come and go, and this many keep several machines busy. */
const queuedWidth = 16

const engineFor = async (
  configs: readonly LoadedConfig[],
  {
    queue,
    workers,
    lock,
  }: { readonly queue?: string | undefined; readonly workers?: number | undefined; lock: number },
): Promise<QueueEngine> => {
  // Also needed with a queue: this process executes each finding again.
  requireAbilities()
  if (queue === undefined) {
    const [{ LocalEngine }, { slots }] = await Promise.all([
      import('../../campaign/queue/engine.ts'),
      import('../workers/slot.ts'),
    ])
    return new LocalEngine(slots(workers ?? availableParallelism()))
  }
  const [{ requireRedis }, { RedisEngine }, { programsOf }] = await Promise.all([
    import('../../campaign/queue/redis.ts'),
    import('../../campaign/queue/redis-engine.ts'),
    import('../config/programs.ts'),
  ])
  await requireRedis(queue)
  return new RedisEngine({
    url: queue,
    width: workers ?? queuedWidth,
    lockMs: lock,
    systems: configs.map(config => ({ config: relative('', config.path), programs: programsOf(config) })),
    onRedis: is => say(`Redis ${redisIs[is]}`),
  })
}
