import type { Executor } from './executor.ts'

/**
 * Limit on the steps of a healthy network. With fewer, a service that sends much would never be judged; with more, one that
 * sends for ever while no time passes would cost as much as a hundred executions.
 */
const stepsMax = 4_000

/**
 * If one of these properties does not hold now, makes the network healthy and takes the steps that follow, until each has
 * held or one is violated.
 *
 * @returns whether the network was made healthy
 */
export const beHealthy = async <State>(executor: Executor<State>, properties: readonly string[]): Promise<boolean> => {
  const { schedule, lastLive } = executor
  const begin = schedule.length
  const isOver = () => executor.violation !== undefined || executor.broken
  if (isOver() || properties.every(name => executor.isLive(name))) return false
  const healthy = executor.offered().find(({ kind }) => kind === 'healthy')
  if (!healthy) return false
  await executor.execute(healthy)
  const haveHeld = () => properties.every(name => (lastLive.get(name) ?? -1) >= begin)
  for (let steps = 0; steps < stepsMax && !isOver() && !haveHeld(); steps++) {
    const [next] = executor.enabled()
    if (!next) break
    await executor.execute(next)
  }
  return true
}
