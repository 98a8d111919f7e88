/**
 * A process that finds others by node-discover, and has one of them be the master. It logs what it knows.
 *
 *     node node.js n1 10.77.0.2 10.77.0.3 10.77.0.4
 *
 * Arguments: its name, and the addresses of all. WEIGHT is how much it is to be preferred as the master; if it is not set,
 * node-discover takes the time of the start.
 */
import Discover from 'node-discover'

const [name, ...addresses] = process.argv.slice(2)
const { WEIGHT } = process.env
const discover = Discover({ hostname: name, unicast: addresses, ...(WEIGHT && { weight: Number(WEIGHT) }) })

const log = () => {
  const sees = Object.values(discover.nodes)
    .map(({ hostName }) => hostName)
    .sort()
  console.log(JSON.stringify({ isMaster: discover.me.isMaster, sees }))
}
for (const event of ['started', 'added', 'removed', 'promotion', 'demotion']) discover.on(event, log)
