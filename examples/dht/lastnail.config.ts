import { defineSystem, jsonLines } from 'lastnail'

const names = Array.from({ length: 12 }, (_, index) => `n${index + 1}`)
/** How many nodes leave and how many join in a minute. */
const rate = Number(process.env.RATE ?? 10)

export default defineSystem({
  name: `dht-${rate}`,
  nodes: Object.fromEntries(
    names.map(name => [
      name,
      {
        command: [
          ...['node', 'node.mjs', `{{${name}.address}}:4000`, name, names.join(',')],
          ...(name === 'n1' ? [] : ['{{n1.address}}:4000']),
        ],
      },
    ]),
  ),
  state: jsonLines('stdout'),
  emulation: {
    topology: { kind: 'inet', nodes: 3037, meanRtt: 130 },
    churn: {
      kind: 'poisson',
      joinsPerMinute: rate,
      leavesPerMinute: rate,
      atLeast: 6,
      manners: ['power'],
      except: ['n1'],
    },
    initial: 12,
    for: '30s',
    joined: node => node.state !== undefined,
    measure: { lookup: /lookup (?<ms>\d+) ms failed (?<failed>[01])/ },
  },
})
