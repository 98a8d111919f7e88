import { always, eventually } from '../../../checker/system/property.ts'
import { Model, type ModelOptions, type Transition } from './model.ts'

/**
 * Two-phase commit as in "Consensus on Transaction Commit" (Gray, Lamport, 2006), whose TLA+ module has 288 reachable
 * states for three resource managers. Messages are never lost and can be received again.
 */
export interface Commit {
  readonly manager: 'init' | 'committed' | 'aborted'
  readonly prepared: readonly boolean[]
  readonly resources: readonly Resource[]
  /** Whether each resource manager has sent that it is prepared. */
  readonly sent: readonly boolean[]
}

type Resource = 'working' | 'prepared' | 'committed' | 'aborted'

export interface CommitOptions extends ModelOptions {
  /** A resource manager that is prepared gives up by itself. */
  readonly impatient?: boolean
}

export const twoPhaseCommit = (size: number, { impatient = false, ...options }: CommitOptions = {}): Model<Commit> => {
  const none: boolean[] = Array(size).fill(false)
  const initial: Commit = { manager: 'init', prepared: none, resources: Array(size).fill('working'), sent: none }
  return new Model<Commit>(initial, state => [...ofManager(state), ...ofResources(state, impatient)], options)
}

const ofManager = (state: Commit): Transition<Commit>[] => {
  if (state.manager !== 'init') return []
  const receive = state.sent.flatMap((sent, i): Transition<Commit>[] => {
    const next = () => ({ ...state, prepared: state.prepared.with(i, true) })
    return sent ? [{ kind: 'deliver', node: 'tm', label: `r${i + 1}→tm #1 prepared`, next }] : []
  })
  const decide = (manager: 'committed' | 'aborted'): Transition<Commit> => {
    return { kind: 'timer', node: 'tm', label: `tm ${manager}`, next: () => ({ ...state, manager }) }
  }
  return [...receive, ...(state.prepared.every(Boolean) ? [decide('committed')] : []), decide('aborted')]
}

const ofResources = (state: Commit, impatient: boolean): Transition<Commit>[] =>
  state.resources.flatMap((resource, i) => {
    const node = `r${i + 1}`
    const become = (kind: 'timer' | 'deliver', label: string, to: Resource): Transition<Commit> => {
      const sent = to === 'prepared' ? state.sent.with(i, true) : state.sent
      return { kind, node, label, next: () => ({ ...state, sent, resources: state.resources.with(i, to) }) }
    }
    return [
      ...(resource === 'working' ? [become('timer', `${node} prepares`, 'prepared')] : []),
      ...(resource === 'working' || (impatient && resource === 'prepared')
        ? [become('timer', `${node} aborts`, 'aborted')]
        : []),
      ...(state.manager === 'init' ? [] : [become('deliver', `tm→${node} #1 ${state.manager}`, state.manager)]),
    ]
  })

export const consistent = always<Commit>(
  ({ resources }) => !(resources.includes('committed') && resources.includes('aborted')),
)

export const decided = eventually<Commit>(({ resources }) =>
  resources.every(resource => resource === 'committed' || resource === 'aborted'),
)
