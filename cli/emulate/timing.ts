import type { ResolvedSystem } from '../../harness/config/config.ts'
import type { EmulationOptions } from '../../harness/native/emulation.ts'
import { Links } from '../../harness/timed/links.ts'
import { inOrder, type Timing } from '../../harness/timed/timing.ts'
import { planOf } from '../../harness/timed/wiring.ts'
import { requireLinks } from './planned-links.ts'

/** When what happens in a run with held nodes, before somebody outside asks for more. */
export const timingOf = (
  system: ResolvedSystem,
  { churn, links: changes, pauseOf, pace, ...wiring }: EmulationOptions & { readonly pace: 'virtual' | 'real' },
): { readonly timing: Timing; readonly notes: readonly string[] } => {
  const { pipes, routes, hops, seed, links, notes } = planOf(
    system.nodes.map(({ name }) => ({ name, address: name })),
    wiring,
  )
  requireLinks(changes, links && new Links(links, routes))
  const timing: Timing = {
    pace,
    model: 1,
    initial: churn.initial,
    events: inOrder(churn.events, changes),
    wiring: { pipes, routes, ...(hops && { hops }), seed, ...(links && { links }) },
    pausesMs: Object.fromEntries(system.clients.map(({ name }) => [name, pauseOf(name)])),
    clocks: system.emulation.clocks,
    inputs: [],
  }
  return { timing, notes }
}
