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
  if (isOver(executor) || properties.every(name => executor.isLive(name))) return false
  const healthy = executor.offered().find(({ kind }) => kind === 'healthy')
  if (!healthy) return false
  await executor.execute(healthy)
  await goOnHealthy(executor)
  return true
}

/** The steps that were chosen: once a network is healthy it goes on by itself, whatever was done before. */
export const untilHealthy = (labels: readonly string[]): readonly string[] => {
  const place = labels.indexOf('healthy')
  return place === -1 ? labels : labels.slice(0, place + 1)
}

/** Whether the network was made healthy in this execution. */
export const isHealthy = <State>({ schedule }: Pick<Executor<State>, 'schedule'>): boolean =>
  schedule.some(({ kind }) => kind === 'healthy')

/**
 * In a network that was made healthy, takes the steps that follow by themselves, until each property that is judged
 * there has held since, or one is violated. A property that was not decided in this many steps is noted.
 */
export const goOnHealthy = async <State>(executor: Executor<State>): Promise<void> => {
  const { schedule, lastLive, judgedHealthy, undecided } = executor
  const begin = schedule.findLastIndex(({ kind }) => kind === 'healthy')
  if (begin === -1) return
  const left = () => judgedHealthy.filter(name => (lastLive.get(name) ?? -1) < begin)
  for (let steps = 0; !isOver(executor) && left().length > 0; steps++) {
    const [next] = executor.enabled()
    if (!next) return
    if (steps === stepsMax) {
      for (const name of left())
        undecided.set(name, `${name} was not decided: it did not hold in ${stepsMax} steps of a healthy network`)
      return
    }
    await executor.execute(next)
  }
}

const isOver = <State>({ violation, broken }: Executor<State>): boolean => violation !== undefined || broken
