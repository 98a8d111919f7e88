import { parseAddress } from '../../linux/address.ts'
import type { RouterOnWay } from '../../proxy/routers.ts'
import type { Timing } from './timing.ts'

/** The routers on the ways between nodes, which answer packets whose time to live is over. */
export const routersOf = (
  { routes, hops = [] }: Timing['wiring'],
  names: readonly string[],
): ((from: string, to: string) => readonly RouterOnWay[]) => {
  const ofWay = new Map(
    routes.map(({ from, to }, index) => [`${names[from]}→${names[to]}`, routersIn(hops[index] ?? [])] as const),
  )
  return (from, to) => ofWay.get(`${from}→${to}`) ?? []
}

/** One answers if its answer can pass all links back. */
const routersIn = (hops: NonNullable<Timing['wiring']['hops']>[number]): RouterOnWay[] =>
  hops.map(({ address }, index) => ({
    address: parseAddress(address),
    answers: hops.slice(0, index + 1).every(({ back }) => back !== undefined),
  }))
