import { existsSync } from 'node:fs'
import { allKinds } from '../../checker/happening/kinds.ts'
import { counted } from '../../checker/system/brief.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { nearest } from '../../checker/system/nearest.ts'
import type { ChoiceKind } from '../../checker/system/system.ts'
import { readTrace } from '../../checker/trace/read.ts'
import { ShownExecution } from '../../report/model/execution.ts'
import { filterPatternOf, isFiltering, matcher, noFilter, type StepFilter } from '../../report/model/filter.ts'
import { traceAndStep } from '../traces/recorded.ts'
import { stepWhere } from './breakpoint.ts'
import type { Timeline } from './timeline.ts'
import { type ShownStep, viewChoices, viewDiff, viewList, viewStates, viewStep } from './views.ts'

/** The session that the commands act on. */
export interface Debugger {
  readonly timeline: Timeline
  /** The steps that `step`, `back` and `list` show. */
  filter: StepFilter
  /** The first dead step, if the trace records it. */
  readonly critical: number | undefined
  /** Resolves when the person at the terminal wants to continue. */
  readonly untilAsked: (prompt: string) => Promise<void>
}

export interface DebugCommand {
  readonly names: readonly string[]
  readonly usage: string
  readonly does: string
  /** Returns the lines to print. */
  readonly run: (debug: Debugger, words: readonly string[]) => Promise<readonly string[]> | readonly string[]
}

export const commands: readonly DebugCommand[] = [
  {
    names: ['step', 's', 'next'],
    usage: 'step [N]',
    does: 'goes N steps forward, of those that `only` shows',
    run: (debug, [count]) => moveBy(debug, countOf(count)),
  },
  {
    names: ['back', 'b'],
    usage: 'back [N]',
    does: 'goes N steps back, of those that `only` shows',
    run: (debug, [count]) => moveBy(debug, -countOf(count)),
  },
  {
    names: ['jump', 'j'],
    usage: 'jump N|start|end|critical',
    does: 'goes to a step',
    run: (debug, [where]) => moveTo(debug, stepOf(debug, where)),
  },
  {
    names: ['until', 'u'],
    usage: 'until [PROPERTY|EXPRESSION]',
    does: 'goes forward until any property, or the given one, begins or ceases to hold, or an expression over the state, s, is true',
    run: async ({ timeline, ...debug }, words) => {
      const { execution, at } = timeline
      const isName = words.length === 0 || (words.length === 1 && /^[\w-]+$/.test(words[0]!))
      const found = isName ? stepOfChange(execution, at, words[0]) : await stepWhere(execution, at, words.join(' '))
      return moveTo({ timeline, ...debug }, found)
    },
  },
  {
    names: ['only', 'o'],
    usage: 'only [NODE] [KIND] [REGEX]',
    does: 'makes `step`, `back` and `list` show only some steps; without arguments, all again',
    run: (debug, words) => {
      debug.filter = filterOf(debug, words)
      const { length } = matching(debug)
      return [isFiltering(debug.filter) ? `${length} of ${debug.timeline.execution.steps.length} steps` : 'all steps']
    },
  },
  {
    names: ['list', 'l'],
    usage: 'list [NODE] [KIND] [REGEX]',
    does: 'lists such steps; without arguments, the steps around this one',
    run: (debug, words) => {
      const { execution, at } = debug.timeline
      const seen = matching(words.length > 0 ? { ...debug, filter: filterOf(debug, words) } : debug)
      const around = words.length > 0 ? seen : seen.filter(step => Math.abs(step - at) <= linesAround)
      return viewList(execution, around, at, debug.timeline.isBranch ? undefined : debug.critical)
    },
  },
  {
    names: ['show', 'w'],
    usage: 'show [N]',
    does: 'shows this step, or step N: what it changed, sent and wrote',
    run: (debug, [where]) =>
      viewStep(debug.timeline.execution, where === undefined ? debug.timeline.at : stepOf(debug, where)),
  },
  {
    names: ['state', 'p', 'print'],
    usage: 'state [NODE…]',
    does: 'prints the states of nodes here',
    run: ({ timeline }, words) => viewStates(timeline.execution, nodesOf(timeline, words), timeline.at),
  },
  {
    names: ['diff', 'd'],
    usage: 'diff [N|TRACE[:N]] [N]',
    does: 'compares states: with the step before, with step N, with the same or another step of a trace',
    run: (debug, words) => {
      const { execution, at } = debug.timeline
      const [one, other] = words.map(word => momentOf(debug, word))
      const here = { execution, step: at }
      if (one === undefined) return viewDiff(execution.nodes, { execution, step: Math.max(0, at - 1) }, here)
      return viewDiff(execution.nodes, one, other ?? here)
    },
  },
  {
    names: ['choices', 'c'],
    usage: 'choices [REGEX]',
    does: 'lists the choices enabled here',
    run: ({ timeline }, words) => {
      const next = timeline.execution.steps[timeline.at + 1]?.choice?.label
      const lines = viewChoices(timeline.enabled, next)
      const pattern = filterPatternOf(words.join(' '))
      return lines.filter(line => pattern.test(line))
    },
  },
  {
    names: ['take', 't'],
    usage: 'take N|LABEL',
    does: 'executes another choice, which begins a branch without the recorded steps',
    run: async (debug, words) => {
      const { timeline } = debug
      const given = words.join(' ')
      await timeline.take(/^\d+$/.test(given) ? (timeline.enabled[Number(given) - 1]?.label ?? given) : given)
      return describePlace(debug)
    },
  },
  {
    names: ['return'],
    usage: 'return',
    does: 'leaves a branch: goes to the last step that it has in common with the trace',
    run: async debug => {
      if (!debug.timeline.isBranch) throw new UsageError('this is the trace itself, not a branch')
      await debug.timeline.leaveBranch()
      return describePlace(debug)
    },
  },
  {
    names: ['save'],
    usage: 'save FILE',
    does: 'writes the steps up to this one as a trace',
    run: async ({ timeline }, [path]) => {
      if (path === undefined) throw new UsageError('expected a file: save FILE')
      await timeline.save(path)
      return [`saved ${counted(timeline.at, 'step')} to ${path}`]
    },
  },
  {
    names: ['run', 'r'],
    usage: 'run NODE PROGRAM…',
    does: 'runs a program inside a node; going back undoes what it changed',
    run: async ({ timeline }, [node, ...program]) => {
      if (node === undefined || program.length === 0)
        throw new UsageError('expected a node and a program: run NODE PROGRAM…')
      const { exitCode, stdout, stderr } = await timeline.run(node, program)
      return [...[stdout, stderr].filter(Boolean), ...(exitCode === 0 ? [] : [`exit code ${exitCode}`])]
    },
  },
  {
    names: ['attach'],
    usage: 'attach NODE',
    does: 'stops a node here for a process debugger such as gdb',
    run: async ({ timeline, untilAsked }, [node]) => {
      await timeline.lend(nodeOf(timeline, node), pid =>
        untilAsked(
          `process ${pid} is stopped and can be debugged: gdb -p ${pid} (it cannot continue, because its time is held)\n` +
            `its files and network: nsenter --target ${pid} --all\nEnter to come back `,
        ),
      )
      return describePlace({ timeline })
    },
  },
  {
    names: ['inspect'],
    usage: 'inspect NODE',
    does: 'opens the inspector of a node that is a Node.js program, and lets the nodes go on until you come back',
    run: async ({ timeline, untilAsked }, [node]) => {
      await timeline.inspect(nodeOf(timeline, node), pid =>
        untilAsked(`nsenter --target ${pid} --net node inspect 127.0.0.1:9229\nEnter to come back `),
      )
      return describePlace({ timeline })
    },
  },
  {
    names: ['help', 'h', '?'],
    usage: 'help',
    does: 'lists the commands',
    run: () => commands.map(({ usage, does }) => `${usage.padEnd(width)}  ${does}`),
  },
  { names: ['quit', 'q', 'exit'], usage: 'quit', does: 'ends', run: () => [] },
]

const width = 27
const linesAround = 10

const findCommand = (name: string) => commands.find(({ names }) => names.includes(name))

export const commandNamed = (name: string): DebugCommand => {
  const found = findCommand(name)
  if (found) return found
  throw new UsageError(`no command "${name}": "help" lists them`)
}

/** Possible completions after the words of a command. */
export const completionsOf = ({ timeline }: Debugger, words: readonly string[]): readonly string[] => {
  if (words.length <= 1) return commands.map(({ names }) => `${names[0]!} `)
  const { header } = timeline.execution.trace
  switch (findCommand(words[0]!)?.names[0]) {
    case 'only':
    case 'list':
      return [...timeline.execution.nodes, ...allKinds]
    case 'state':
    case 'run':
    case 'attach':
    case 'inspect':
      return timeline.execution.nodes
    case 'until':
      return header.properties.map(({ name }) => name)
    case 'jump':
      return ['start', 'end', 'critical']
    case 'take':
      return timeline.enabled.map(({ label }) => label)
    default:
      return []
  }
}

/** Describes the step at which the debugger is. */
export const describePlace = ({ timeline }: Pick<Debugger, 'timeline'>): string[] => [
  ...viewStep(timeline.execution, timeline.at),
  ...(timeline.violation ? [`       violated: ${timeline.violation}`] : []),
]

/** The next step in which a property's value changes. */
const stepOfChange = ({ steps, trace }: ShownExecution, at: number, property: string | undefined): number => {
  const names = trace.header.properties.map(({ name }) => name)
  if (property !== undefined && !names.includes(property))
    throw new UsageError(`no property "${property}": ${nearest(property, names)}`)
  const found = steps.find(
    ({ index, properties }) => index > at && properties.some(({ name }) => property === undefined || name === property),
  )
  if (found === undefined) throw new UsageError(`${property ?? 'no property'} does not change in any later step`)
  return found.index
}

const moveTo = async (debug: Pick<Debugger, 'timeline'>, step: number) => {
  await debug.timeline.goTo(step)
  return describePlace(debug)
}

/** Moves by a number of steps among those that pass the filter. */
const moveBy = (debug: Debugger, count: number) => {
  const { at, execution } = debug.timeline
  const steps = matching(debug)
  const ahead = count > 0 ? steps.filter(step => step > at) : steps.filter(step => step < at).reverse()
  if (ahead.length > 0) return moveTo(debug, ahead[Math.min(Math.abs(count), ahead.length) - 1]!)
  if (count < 0) throw new UsageError(at === 0 ? 'this is the start' : 'there is no such step before this one')
  throw new UsageError(
    at === execution.end
      ? 'this is the end: "choices" lists what could happen'
      : 'there is no such step after this one',
  )
}

const matching = ({ timeline: { execution }, filter }: Pick<Debugger, 'timeline' | 'filter'>): number[] => {
  const matches = matcher(filter)
  return execution.steps.flatMap(({ index }) => (matches(execution, index) ? [index] : []))
}

const filterOf = ({ timeline }: Debugger, words: readonly string[]): StepFilter => {
  const node = words.find(word => timeline.execution.nodes.includes(word))
  const kind = words.find((word): word is ChoiceKind => allKinds.includes(word as ChoiceKind))
  const text = words.filter(word => word !== node && word !== kind).join(' ')
  return words.length === 0 ? noFilter : { node, kind, text }
}

const countOf = (text = '1'): number => {
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  throw new UsageError(`expected a number of steps, found "${text}"`)
}

const stepOf = ({ timeline, critical }: Debugger, text: string | undefined): number => {
  const { end } = timeline.execution
  if (text === 'start') return 0
  if (text === 'end') return end
  if (text === 'critical') {
    if (critical !== undefined && !timeline.isBranch) return critical
    throw new UsageError('no critical transition is known here')
  }
  if (text === undefined || !/^\d+$/.test(text))
    throw new UsageError(`expected a step, start, end or critical, found "${text ?? ''}"`)
  return timeline.known(Number(text))
}

const nodeOf = ({ execution }: Timeline, name: string | undefined): string => {
  if (name !== undefined && execution.nodes.includes(name)) return name
  throw new UsageError(`expected a node (${execution.nodes.join(', ')}), found "${name ?? ''}"`)
}

const nodesOf = (timeline: Timeline, words: readonly string[]): readonly string[] =>
  words.length === 0 ? timeline.execution.nodes : words.map(word => nodeOf(timeline, word))

/** A step of this execution, or of a trace. */
const momentOf = (debug: Debugger, word: string): ShownStep => {
  const { execution, at } = debug.timeline
  if (/^\d+$/.test(word)) return { execution, step: stepOf(debug, word) }
  const { path, step = at } = traceAndStep(word)
  if (!existsSync(path)) throw new UsageError(`expected a step or a trace, found "${word}"`)
  const other = new ShownExecution(readTrace(path, { torn: 'accept' }))
  if (step > other.end) throw new UsageError(`${path} has ${counted(other.end, 'step')}, so it has no step ${step}`)
  return { execution: other, step }
}
