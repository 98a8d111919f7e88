import './command/optimise-late.ts'
import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { Command } from 'commander'
import { UsageError } from '../checker/system/errors.ts'
import { NotWritten } from '../checker/system/written.ts'
import { describeTear, readTrace } from '../checker/trace/read.ts'
import { hasCriu } from '../harness/checkpoint/criu.ts'
import { shareVariable } from '../harness/hold/turns/courtesy.ts'
import { writeReport } from '../report/report.ts'
import { addCampaignCommands } from './campaign/campaigns.ts'
import { annotationOf } from './check/annotation.ts'
import { checkConfig } from './check/check.ts'
import type { Checked } from './check/checked.ts'
import { describeCheck, describeReplay, describeTried } from './check/describe.ts'
import { outcomeOf } from './check/outcome.ts'
import { shrinkTrace } from './check/shrink.ts'
import { tryByHand } from './check/try.ts'
import { addCheckOptions, checkOption, checkOptionsFrom } from './command/check-options.ts'
import { type ErrorCode, exitCode, explainError, unlessUnwritten } from './command/exit-code.ts'
import { type CheckOptions, defaultOut, timeOf } from './command/options.ts'
import { version } from './command/package.ts'
import { print } from './command/print.ts'
import { showProgress, statusLine } from './command/progress.ts'
import {
  duration,
  pace,
  port,
  shareOfCpu,
  steerings,
  timerMsMax,
  wholeNumber,
  wholeNumberAboveZero,
} from './command/values.ts'
import { findConfig } from './config/find-config.ts'
import { type LoadedConfig, loadConfig, notesOf } from './config/load-config.ts'
import { addPlotCommand } from './emulate/plots/plot.ts'
import type { RunOptions } from './emulate/settings.ts'
import { addControlCommands } from './emulate/verbs.ts'
import { askForPrograms, programOptions } from './init/ask-programs.ts'
import type { AskedProgram } from './init/first-config.ts'
import { initFromCompose, initFromPrograms } from './init/init.ts'
import { keepSchedule } from './schedules/keep.ts'
import { addScheduleCommands, describeKept } from './schedules/schedules.ts'
import { abilities } from './session/machine.ts'
import { runInOwnNamespaces } from './session/ordinary-user.ts'
import { catchStrays, endsItself, refuseExit, strays } from './session/stray.ts'
import { addTopologyCommands } from './topology.ts'
import { replayTrace } from './traces/replay.ts'
import { workersByDefault } from './workers/workers.ts'

/** A worker for each CPU, as long as it is worth its start. */
const workersFor = ({ workers, executions = Number.POSITIVE_INFINITY }: CheckOptions) =>
  workers ?? Math.min(availableParallelism(), workersByDefault, Math.ceil(executions / executionsMin) || 1)

const executionsMin = 16

/**
 * Prints the result for a person, or as JSON with the reason on stderr.
 *
 * @returns the exit code
 */
const report = (checked: Checked, { json }: { json?: boolean | undefined }): number => {
  if (json) {
    process.stderr.write(`${checked.verdict.message}\n`)
    print(JSON.stringify(outcomeOf(checked)))
  } else print(describeCheck(checked))
  return unlessUnwritten(exitCode[checked.verdict.verdict], checked.unwritten)
}

const keepFound = async (trace: string) =>
  void process.stderr.write(`lastnail: ${describeKept(await keepSchedule(trace))}\n`)

/** Writes something beside the result. Returns why that could not be written, in lines. */
const unwrittenOf = async (write: () => Promise<void>): Promise<string[]> => {
  try {
    await write()
    return []
  } catch (error) {
    if (error instanceof NotWritten) return [error.message]
    throw error
  }
}

/** The schema of a command's output, or of all commands' outputs. */
const describeSchema = async (command: string): Promise<string> => {
  const { printedSchemas } = await import('./printed/printed.ts')
  const schemas = printedSchemas()
  const asked = command === '' ? schemas : schemas[command]
  if (asked === undefined)
    throw new UsageError(`${command} prints no JSON; these commands do: ${Object.keys(schemas).join(', ')}`)
  return JSON.stringify(asked, null, 2)
}

interface RepeatArguments {
  readonly times: number
  readonly steps: number
  readonly seed: number
  readonly rewind?: boolean
  readonly json?: boolean
}

interface InitArguments {
  readonly node?: readonly AskedProgram[]
  readonly json?: boolean
}

/** Tells a CI server about the result, which shows it where people look. */
const tellServers = async (
  { definition, path }: LoadedConfig,
  { verdict, trace }: Checked,
  { junit, property }: { junit?: string; property?: string | undefined },
) => {
  const { name, properties = {} } = definition
  const all = property === undefined
  const named = all ? Object.keys(properties) : [property]
  if (junit)
    (await import('./check/junit.ts')).writeJunit(junit, { system: name, properties: named, all, verdict, trace })
  if (process.env.GITHUB_ACTIONS === 'true' && verdict.verdict !== 'held')
    process.stderr.write(`${annotationOf(name, relative('', path), verdict)}\n`)
}

/** Adds the options of every run of a system. */
const withRunOptions = (command: Command, howLong: string): Command =>
  command
    .option('--for <duration>', howLong, duration)
    .option('--look <duration>', 'how often properties are evaluated', duration)
    .option('--seed <n>', 'seed of all random numbers', wholeNumber, 1)
    .option(
      '--keep <duration>',
      'records this much of its end as a whole, and of what came before an outline',
      duration,
    )
    .option('--series', 'writes what was measured over time as CSV and JSON too')
    .option('--port <n>', 'port of its control interface, on loopback (any free one)', port)
    .option('--out <directory>', 'directory for the trace', defaultOut)
    .option('--json', 'prints one JSON object as the last line')

/** Runs a system over an emulated internet, and prints the summary. Returns the exit code. */
const emulateAndTell = async (file: string, options: RunOptions, json: boolean | undefined): Promise<number> => {
  const [{ emulate }, { describeRun }] = await Promise.all([
    import('./emulate/emulate.ts'),
    import('./emulate/summary.ts'),
  ])
  const { summary, unwritten } = await emulate(await loadConfig(file), options)
  print(json ? JSON.stringify(summary) : describeRun(summary))
  return unlessUnwritten(exitCode[summary.verdict], unwritten)
}

/** Runs a system with several seeds, and prints what they came to. Returns the exit code. */
const emulateSeedsAndTell = async (
  args: readonly string[],
  count: number,
  { seed, out }: Pick<RunOptions, 'seed' | 'out'>,
  json: boolean | undefined,
): Promise<number> => {
  const { describeSeeds, emulateSeeds, exitCodeOfSeeds } = await import('./emulate/plots/seeds.ts')
  const seeds = await emulateSeeds(args, { first: seed, count, out })
  print(json ? JSON.stringify(seeds) : describeSeeds(seeds))
  return exitCodeOfSeeds(seeds)
}

/** Notes the options that a command is given, as words for the same command in another process, but for these. */
const noteOptions = (command: Command, except: readonly string[]): readonly string[] => {
  const words: string[] = []
  for (const option of command.options) {
    const name = option.name()
    if (except.includes(name)) continue
    command.on(`option:${name}`, (value?: string | null) =>
      words.push(typeof value === 'string' ? `--${name}=${value}` : `--${name}`),
    )
  }
  return words
}

/** What is said for this process holds for its workers too. */
const takeShare = (command: Command): void => {
  const { share } = command.optsWithGlobals<{ share?: number }>()
  if (share !== undefined) process.env[shareVariable] = String(share)
}

const profiles = (name: string, before: readonly string[] = []): string[] => [...before, name]

/** Profiles are chosen as compose itself does, so that workers, which read the file too, know them. */
const chooseProfiles = (root: Command): void => {
  const { profile } = root.opts<{ profile?: readonly string[] }>()
  if (profile !== undefined) process.env.COMPOSE_PROFILES = profile.join(',')
}

// Modules that only one command needs are imported by that command. Loading them would take most of the start of the
// others.

export const program = (done: (code: number) => void) => {
  const root = new Command('lastnail')
    .description('Checks unmodified multi-process services.')
    .version(version)
    .exitOverride()
    .option('--share <share>', 'of its CPUs, while other programs want them too (0.5)', shareOfCpu)
    .hook('preAction', takeShare)
    .option('--profile <name>', 'a profile of a compose file whose services are nodes too; may be repeated', profiles)
    .hook('preAction', chooseProfiles)
    .hook('preAction', runInOwnNamespaces)
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'lastnail: ')) })

  addCheckOptions(root.command('check'))
    .description('explores the system of a configuration')
    .argument('[config]', 'a TypeScript or JavaScript file, or a compose file (lastnail.config.ts)')
    .option('--junit <file>', 'writes the result of each property, for a CI server')
    .option('--save', 'keeps a violation as a schedule in schedules/, beside the configuration')
    .option('--json', 'prints one JSON object as the last line')
    .action(async (file: string | undefined, { json, junit, save, ...given }) => {
      const options = checkOptionsFrom(given)
      const checkOptions: CheckOptions = { ...options, workers: workersFor(options) }
      const progress = showProgress(timeOf(checkOptions))
      const config = await loadConfig(file ?? findConfig())
      for (const note of notesOf(config)) process.stderr.write(`lastnail: ${note}\n`)
      const checked = await checkConfig(
        config,
        { ...checkOptions, onProgress: progress.update },
        { hasSample: true },
      ).finally(progress.end)
      const { trace } = checked
      const unwritten = [
        ...(checked.unwritten ?? []),
        ...(save && trace && checked.verdict.verdict === 'violated' ? await unwrittenOf(() => keepFound(trace)) : []),
        ...(await unwrittenOf(() => tellServers(config, checked, { junit, property: options.property }))),
      ]
      done(report({ ...checked, unwritten }, { json }))
    })

  root
    .command('replay')
    .description('executes a trace again')
    .argument('<trace>')
    .option('--to <step>', 'stops after this step', wholeNumber)
    .option('--json', 'prints one JSON object as the last line')
    .action(async (path: string, { to, json }: { to?: number; json?: boolean }) => {
      const { state, ...replayed } = await replayTrace(path, to)
      print(json ? JSON.stringify(replayed) : describeReplay(replayed, state))
      done(exitCode[replayed.verdict])
    })

  root
    .command('verify')
    .description('evaluates a configuration’s present properties over a recorded trace, without executing it')
    .argument('<trace>')
    .argument('[config]', 'instead of the configuration that the trace names')
    .option('--execute', 'executes the trace again, which is needed if the observer has changed')
    .option('--json', 'prints one JSON object as the last line')
    .action(
      async (path: string, config: string | undefined, { execute, json }: { execute?: boolean; json?: boolean }) => {
        const { describeVerified, verifyTrace } = await import('./verify/verify.ts')
        const verified = await verifyTrace(path, { config, isExecuted: execute })
        print(json ? JSON.stringify(verified) : describeVerified(verified))
        done(exitCode[verified.verdict])
      },
    )

  root
    .command('repeat')
    .description('executes one schedule repeatedly and names the first system call that differs')
    .argument('<config|trace>', 'a trace, or a configuration, for which a random schedule is drawn')
    .option('--times <n>', 'executions', wholeNumberAboveZero, 20)
    .option('--steps <n>', 'length of the schedule drawn for a configuration', wholeNumber, 100)
    .addOption(checkOption('seed', 'seed of the nodes’ random numbers and of that schedule'))
    .addOption(checkOption('rewind'))
    .option('--json', 'prints one JSON object as the last line')
    .action(async (path: string, { json, ...options }: RepeatArguments) => {
      const [{ repeatPath }, { describeRepeated }] = await Promise.all([
        import('./traces/repeat.ts'),
        import('./check/describe-repeated.ts'),
      ])
      const line = statusLine()
      const onExecution = (done: number, isRecorded: boolean) =>
        line.update(isRecorded ? `recording calls: execution ${done}` : `execution ${done} of ${options.times}`)
      const repeated = await repeatPath(path, { ...options, onExecution }).finally(line.end)
      print(json ? JSON.stringify(repeated) : describeRepeated(repeated))
      done(repeated.differs ? exitCode.diverged : exitCode.held)
    })

  root
    .command('shrink')
    .description('finds the shortest schedule with the violation of a trace, or to its goal')
    .argument('<trace>')
    .option('--for <duration>', 'time limit; without it, continues until no step can be dropped', duration)
    .option('--json', 'prints one JSON object as the last line')
    .action(async (path: string, { for: forMs, json }: { for?: number; json?: boolean }) => {
      const shrunk = await shrinkTrace(path, forMs)
      done(report(shrunk, { json }))
    })

  root
    .command('debug')
    .description('steps forward and backward through a trace, with new processes')
    .argument('<trace>')
    .option(
      '--until <expression>',
      'begins at the first step at which a JavaScript expression over the state, s, is true',
    )
    .action(async (path: string, { until }: { until?: string }) =>
      (await import('./debug/debug.ts')).debugTrace(path, until),
    )

  root
    .command('serve')
    .description('debugs in a browser: the page of a trace, with processes behind it')
    .argument('<trace>')
    .option('--port <n>', 'port on loopback (any free one)', port)
    .action(async (path: string, options: { port?: number }) =>
      (await import('./serve/serve.ts')).serveTrace(path, options),
    )

  const emulation = withRunOptions(
    root
      .command('emulate')
      .description('runs the system of a configuration over an emulated internet, with churn, faults and measurements')
      .argument('[config]', 'a TypeScript or JavaScript file, or a compose file (lastnail.config.ts)')
      .option('--pace <pace>', 'virtual, real or native (virtual)', pace)
      .option('--topology <file>', 'a .json, .graphml, .gml or .inet file')
      .option('--churn <file>', 'which nodes come and go: a plan (.json) or a script')
      .option(
        '--check-every <duration>',
        'stops the clock this often and searches from the present state, in other processes',
        duration,
      )
      .option('--check-for <duration>', 'duration of each such search (5s)', duration)
      .option('--predict', 'predicts what may come from states of the run')
      .option('--every <duration>', 'how often it is predicted (10s)', duration)
      .option('--inputs <n>', 'how many inputs a prediction gives to nodes (500)', wholeNumberAboveZero)
      .option('--serve', 'serves a page of the running system')
      .option('--seeds <n>', 'so many runs, each with a seed of its own, in one plot', wholeNumberAboveZero)
      .option('--guard <traces...>', 'keeps the known bugs of these traces from happening')
      .option(
        '--steer [how]',
        'keeps it from violations: check (of each step), predict (what may come), or both (both)',
        steerings,
      ),
    'how long',
  )
  const emulationOptions = noteOptions(emulation, ['seed', 'seeds', 'series', 'json'])
  emulation.action(
    async (
      file: string | undefined,
      {
        for: forMs,
        look: lookMs,
        keep: keepMs,
        json,
        checkEvery,
        checkFor,
        steer,
        predict,
        every,
        inputs,
        seeds,
        ...options
      },
    ) => {
      if (seeds !== undefined) {
        const args = ['emulate', ...(file === undefined ? [] : [file]), ...emulationOptions]
        return done(await emulateSeedsAndTell(args, seeds, options, json))
      }
      const searches = { checkEveryMs: checkEvery, checkForMs: checkFor, predict, everyMs: every, inputsMax: inputs }
      const run = { forMs, lookMs, keepMs, ...searches, steer: steer === true ? 'both' : steer, ...options }
      done(await emulateAndTell(file ?? findConfig(), run, json))
    },
  )

  withRunOptions(
    root
      .command('guard')
      .description('runs a system for real clients, and keeps the known bugs of traces from happening')
      .argument('<config>', 'a TypeScript or JavaScript file, or a compose file; it may come last')
      .argument('<traces...>', 'traces of violated properties'),
    'how long (until it is ended)',
  ).action(
    async (first: string, others: readonly string[], { for: forMs, look: lookMs, keep: keepMs, json, ...options }) => {
      const files = [first, ...others]
      const [file, ...guard] = (first.endsWith('.trace') ? [files.pop()!, ...files] : files) as [string, ...string[]]
      const how = {
        pace: 'real',
        forMs: forMs ?? timerMsMax,
        lookMs,
        keepMs,
        guard,
        onlyVisitors: true,
        ...options,
      } as const
      done(await emulateAndTell(file, how, json))
    },
  )

  addControlCommands(root, done)
  addTopologyCommands(root)
  addPlotCommand(root)

  root
    .command('report')
    .description('writes a trace as a page to open in a browser')
    .argument('<trace>')
    .option('--out <file>', 'file to write (beside the trace)')
    .option('--json', 'prints one JSON object as the last line')
    .action((path: string, { out, json }: { out?: string; json?: boolean }) => {
      const file = writeReport(path, out)
      print(json ? JSON.stringify({ file }) : file)
      const { torn } = readTrace(path, { torn: 'accept' })
      if (torn) process.stderr.write(`lastnail: ${describeTear(path, torn)}; the report shows what is whole\n`)
    })

  root
    .command('try')
    .description('executes steps named by hand; parts of their labels are enough')
    .argument('<config>', 'a TypeScript or JavaScript file, or a compose file')
    .argument('<steps...>', "such as 'client ann' 'n1→n2 vote' 'n1→n2 ×3' 'earliest timer' 'all until n2→n1 granted'")
    .option('--seed <n>', 'seed of the nodes’ random numbers', wholeNumber, 1)
    .option('--out <file>', 'writes a trace of it')
    .option('--json', 'prints one JSON object as the last line')
    .action(async (file: string, steps: readonly string[], { json, ...options }) => {
      const tried = await tryByHand(await loadConfig(file), steps, options)
      const { state: _, started: __, unwritten, ...found } = tried
      print(json ? JSON.stringify(found) : describeTried(tried))
      done(unlessUnwritten(exitCode[tried.verdict], unwritten))
    })

  addScheduleCommands(root, done)
  addCampaignCommands(root, done)

  root
    .command('init')
    .description('writes a first configuration for the services of a compose file or for programs')
    .argument('[compose]', 'a compose file; without it and without --node it asks, at a terminal')
    .option(
      '--node <name[:ports]=command>',
      "a process, such as 'web:8080=node web.js'; repeat it for each",
      programOptions,
    )
    .option('--json', 'prints one JSON object as the last line')
    .action(async (compose: string | undefined, { node: programs, json }: InitArguments) => {
      if (compose !== undefined && programs)
        throw new UsageError('expected a compose file or --node, found both: nodes of a compose file are its services')
      const { file, seen } = await (compose === undefined
        ? initFromPrograms('.', programs ?? (await askForPrograms()))
        : initFromCompose(compose))
      print(
        json ? JSON.stringify({ file, seen }) : [...seen, `wrote ${relative('', file)}`, 'next: npx lastnail check'],
      )
    })

  root
    .command('mcp')
    .description('serves the Model Context Protocol on stdin and stdout')
    .action(async () => (await import('./mcp/serve.ts')).serveMcp())

  root
    .command('schema')
    .description('prints what commands print with --json, as JSON Schema')
    .argument('[command...]', 'only this one')
    .action(async (command: string[]) => void print(await describeSchema(command.join(' '))))

  root
    .command('doctor')
    .description('says what this machine can do, or which system calls of a program are held')
    .argument('[command...]', 'with --program: the program and its arguments, after --')
    .option('--program', 'runs a program once and says which of its system calls are held, native or refused')
    .option('--fix', 'gets CRIU, if it is missing, from the packages of a later Debian')
    .option('--json', 'prints one JSON object as the last line')
    .action(async (command: string[], { fix, json, program }: { fix?: boolean; json?: boolean; program?: boolean }) => {
      if (program) {
        const { callsOfProgram, describeCalls } = await import('./doctor/program-calls.ts')
        const found = await callsOfProgram(command)
        print(json ? JSON.stringify(found) : describeCalls(found))
        return done(exitCode.held)
      }
      if (fix && !hasCriu()) {
        const { getCriu } = await import('./doctor/get-criu.ts')
        process.stderr.write(`CRIU is in ${await getCriu()}\n`)
      }
      const found = abilities()
      if (json) print(JSON.stringify({ abilities: found }))
      else print(found.map(({ name, isThere, detail }) => `${isThere ? 'has  ' : 'LACKS'} ${name}: ${detail}`))
      done(found.every(({ isNeeded, isThere }) => !isNeeded || isThere) ? exitCode.held : exitCode.machineLacks)
    })
  return root
}

/** Runs the command and returns its exit code. A process may run several, one after another. */
export const run = async (args: readonly string[]): Promise<number> => {
  let code: number = exitCode.held
  const hasJson = asksForJson(args)
  catchStrays(error => {
    endsItself()
    process.exit(explain(error, hasJson))
  })
  refuseExit(exitCode.usage)
  try {
    await program(value => {
      code = value
    }).parseAsync([...args], { from: 'user' })
    strays.check()
    return code
  } catch (error) {
    if (!isParserError(error)) return explain(error, hasJson)
    if (error.exitCode === 0) return exitCode.held
    // commander has printed its own error.
    if (hasJson) printError('usage', exitCode.usage, error.message.replace(/^error: /, ''))
    return exitCode.usage
  } finally {
    endsItself()
  }
}

/** Prints an error and returns its exit code. */
const explain = (thrown: unknown, hasJson: boolean): number => {
  const { code, error, lines } = explainError(thrown)
  for (const line of lines) process.stderr.write(`lastnail: ${line}\n`)
  if (hasJson) printError(error, code, lines.join('\n'))
  return code
}

/** Whether `--json` is among the options; after `--` it belongs to another program. */
const asksForJson = (args: readonly string[]): boolean => args.slice(0, args.indexOf('--') >>> 0).includes('--json')

const printError = (code: ErrorCode, exit: number, message: string) =>
  print(JSON.stringify({ error: { code, exitCode: exit, message } }))

const isParserError = (error: unknown): error is Error & { exitCode: number } =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('commander.')
