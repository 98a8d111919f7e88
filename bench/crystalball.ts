/**
 * `node dist/bench/crystalball.js [PART…]`: CrystalBall's experiments in one sitting, on an otherwise idle machine, each with the figure of the paper
 * ("Predicting and Preventing Inconsistencies in Deployed Distributed Systems", Yabandeh and others, 2010) or the aim. Without parts: `nodes`, `speed` and
 * `rows`, which take some 40 minutes.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

interface Part {
  readonly what: string
  /** In the paper, or what is aimed at. */
  readonly there: string
  /** A program of this folder, and its arguments. */
  readonly command: readonly string[]
}

const parts: Readonly<Record<string, Part>> = {
  nodes: {
    what: 'What one node costs',
    there: 'aim, medians: a Node.js node marked in 2 ms and brought back in 2 ms, one in Go or C in 1 ms each',
    command: ['nodes.js'],
  },
  speed: {
    what: 'Inputs of processes and remembered steps a second',
    there: 'aim: 100 and 10,000 from 4 Chord nodes, 40 and 2,000 from 25 RandTree nodes',
    command: ['predict.js'],
  },
  rows: {
    what: 'Bugs from live states in which their chain can begin',
    there:
      'table I: 7 in RandTree, 3 in Chord, 3 in Bullet’, within an hour to a day of a run; aim: 8 of these 10 rows within 120 s on a core',
    command: ['predict.js', '--rows', '--for', '120', '--states', '3'],
  },
  paxos: {
    what: 'Paxos steered, 100 runs of each bug',
    there: 'figure 16: by steering 74 and 89, by the immediate check 25 and 7, missed 1 and 4',
    command: ['steering/main.js', 'paxos', '--runs', '100', '--every', '1s'],
  },
  chord: {
    what: 'Chord steered, 100 runs',
    there: 'aim: none missed',
    command: ['steering/main.js', 'live', '--runs', '100'],
  },
  randtree: {
    what: 'RandTree steered, 1.4 hours of its time',
    there:
      'section 5.4.1: 121 inconsistent states without; with both 480 predicted, 415 prevented by prediction, 160 by the check, none missed',
    command: ['steering/main.js', 'randtree', '--for', '84', '--churn', '12'],
  },
  examples: {
    what: 'Services of the examples steered',
    there: 'not in the paper; aim: all avoided',
    command: ['steering/main.js', 'examples'],
  },
}

const asked = process.argv.slice(2)
for (const name of asked.length > 0 ? asked : ['nodes', 'speed', 'rows']) {
  const part = parts[name]
  if (part === undefined) throw new Error(`${name}: expected ${Object.keys(parts).join(', ')}`)
  const { what, there, command } = part
  const [program, ...args] = command
  console.log(`\n## ${what}\n\nThere: ${there}\n\n    node dist/bench/${command.join(' ')}\n`)
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, program!), ...args], { stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
