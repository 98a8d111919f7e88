import { Solo } from '../../../checker/cells/alone.ts'
import { Experience } from '../../../checker/searches/experience.ts'
import { type LocalOptions, LocalSearch } from '../../../checker/searches/local/local.ts'
import { isAlone, type LocalCoverage } from '../../../checker/searches/search.ts'
import { Budget } from '../../../checker/system/budget.ts'
import { Random } from '../../../checker/system/random.ts'
import { initial, labelsTo } from '../../../checker/system/start.ts'
import { type Handlers, nodesOf, type Whole } from './handlers.ts'

/** A local search to its end, of which no order is executed. */
export const searchAlone = async <Local>(
  handlers: Handlers<Local>,
  options: Pick<LocalOptions<Whole<Local>>, 'properties' | 'combining' | 'evaluationsMax'>,
): Promise<{ local: LocalCoverage; orders: string[][] }> => {
  const experience = new Experience({ walkLength: undefined, begin: initial, liveness: [], random: new Random(1) })
  const search = new LocalSearch(experience, { nodes: nodesOf(handlers), ...options })
  const solo = new Solo(nodesOf(handlers))
  const orders: string[][] = []
  for (let asked = search.next(); asked; asked = search.next())
    if (isAlone(asked)) search.learnAlone(asked, await solo.perform(asked.task, 0, new Budget({})))
    else orders.push([...labelsTo(asked.task.start)])
  return { local: search.local, orders }
}
