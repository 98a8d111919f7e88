import type { Mark } from '../../checker/cells/executor.ts'
import { Carried } from '../../checker/system/carried.ts'
import { decided, evaluate, type Property } from '../../checker/system/property.ts'
import type { Cluster } from '../cluster.ts'
import type { GlobalState, ResolvedSystem } from '../config/config.ts'

/**
 * The properties that are not violated in the present state. Each state that follows would violate the others too, whatever
 * happens: nothing can be predicted of them until they hold again.
 *
 * @param mark what is known of the run in this state
 */
export const withoutBroken = (
  properties: ResolvedSystem['properties'],
  cluster: Pick<Cluster, 'state' | 'running'>,
  { carried, notSince }: Pick<Mark, 'carried' | 'notSince'>,
): ResolvedSystem['properties'] => {
  const values = new Carried(properties, carried)
  const state = cluster.state()
  const isBroken = (name: string, property: Property<GlobalState>): boolean => {
    if (property.kind === 'always')
      return decided(() => evaluate(name, property, state, () => 'now', values.of(name))) === false
    const since = notSince.get(name)
    const { withinMs } = property
    return since !== undefined && withinMs !== undefined && cluster.running.time!.nowMs - since > withinMs
  }
  return Object.fromEntries(Object.entries(properties).filter(([name, property]) => !isBroken(name, property)))
}
