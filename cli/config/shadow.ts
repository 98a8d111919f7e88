import { dirname, parse, resolve } from 'node:path'
import {
  ConfigError,
  defineSystem,
  type NodeDefinition,
  readNodes,
  type SystemDefinition,
} from '../../harness/config/config.ts'
import { TopologyError } from '../../topologies/error.ts'
import { readText } from '../../topologies/formats/file.ts'
import { readGml } from '../../topologies/formats/gml.ts'
import type { Topology } from '../../topologies/topology.ts'
import { parseShadow, type ShadowFile, type ShadowHost } from './shadow-file.ts'

/**
 * The hosts of a configuration of Shadow as nodes, over its graph. A host begins when its first process does; in a check,
 * after those that begin earlier are ready. It defines no properties, so only crashes and divergences are looked for.
 *
 * @throws ConfigError
 */
export const fromShadow = (path: string, text: string): SystemDefinition => {
  const file = parseShadow(path, text)
  const hosts = Object.entries(file.hosts).filter(([, { processes }]) => processes.length > 0)
  if (hosts.length === 0) throw new ConfigError([`${path}: expected a host with a process, found none`])
  const nodes = Object.fromEntries(hosts.map(([name, host]) => [name, nodeOf(host, earlierThan(host, hosts))]))
  const events = hosts.flatMap(([name, host]) => eventsOf(name, host))
  return defineSystem({
    name: parse(path).name,
    nodes: { [readNodes]: () => ({ nodes, notes: notesOf(path, file) }) },
    emulation: {
      topology: topologyOf(file, path),
      place: Object.fromEntries(hosts.map(([name, host]) => [name, `router ${host.network_node_id}` as const])),
      initial: hosts.filter(([, host]) => startOf(host) === 0).map(([name]) => name),
      churn: { script: events.join('\n') },
      for: `${file.general.stop_time}ms`,
    },
  })
}

const startOf = ({ processes }: ShadowHost): number => Math.min(...processes.map(({ start_time: start }) => start))

const earlierThan = (host: ShadowHost, hosts: readonly (readonly [string, ShadowHost])[]): string[] =>
  hosts.filter(([, other]) => startOf(other) < startOf(host)).map(([name]) => name)

const nodeOf = (host: ShadowHost, after: readonly string[]): NodeDefinition => {
  const [first, ...others] = host.processes
  const environments = host.processes.map(({ environment }) => environment)
  return {
    command: others.length === 0 ? commandOf(first!) : ['/bin/sh', '-c', together(host)],
    env: Object.assign({}, ...environments),
    exits: host.processes.every(({ expected_final_state: end }) => end === 'running') ? 'crash' : 'allowed',
    ...(after.length > 0 && { after }),
  }
}

type Process = ShadowHost['processes'][number]

/** Shadow runs a process in a directory of its own, three below the file. */
const commandOf = ({ path, args }: Process): string[] => [path, ...args].map(word => word.replace(/^(\.\.\/){3}/, './'))

/** A shell that runs the processes of a host, each at its time, and ends when all have. */
const together = (host: ShadowHost): string => {
  const first = startOf(host)
  const lines = host.processes.map(process => {
    const command = commandOf(process).map(quoted).join(' ')
    const seconds = (process.start_time - first) / 1000
    return seconds > 0 ? `(sleep ${seconds}; exec ${command}) &` : `${command} &`
  })
  return [...lines, 'wait'].join('\n')
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

const eventsOf = (name: string, host: ShadowHost): string[] => {
  const start = startOf(host)
  const [{ shutdown_time: end, shutdown_signal: signal }, ...others] = host.processes as [Process, ...Process[]]
  return [
    ...(start > 0 ? [`${start}ms join ${name}`] : []),
    ...(end !== null && others.length === 0
      ? [`${end}ms leave ${name} ${signal === 'SIGKILL' ? 'kill' : 'stop'}`]
      : []),
  ]
}

const topologyOf = ({ network: { graph } }: ShadowFile, path: string): Topology => {
  if (graph.type === '1_gbit_switch') return readGml(gigabitSwitch)
  const given = graph.file?.path ?? graph.path
  const file = given === undefined ? undefined : resolve(dirname(path), given)
  if (file === undefined && graph.inline === undefined)
    throw new ConfigError([`${path}: network.graph: expected a file or inline`])
  try {
    return readGml(file === undefined ? graph.inline! : readText(file))
  } catch (error) {
    if (!(error instanceof TopologyError)) throw error
    throw new ConfigError(error.problems.map(problem => `${file ?? `${path}: network.graph.inline`}: ${problem}`))
  }
}

const gigabitSwitch = `graph [
  node [ id 0 host_bandwidth_up "1 Gbit" host_bandwidth_down "1 Gbit" ]
  edge [ source 0 target 0 latency "1 ms" ]
]`

/** What of the file has no meaning here, or another one. */
const notesOf = (path: string, { hosts, network }: ShadowFile): string[] => {
  const named = (field: 'ip_addr' | 'bandwidth_down' | 'bandwidth_up', why: string) => {
    const names = Object.entries(hosts).flatMap(([name, host]) => (host[field] === undefined ? [] : [name]))
    return names.length === 0 ? [] : [`${path}: ${field} of ${names.join(', ')} is ignored: ${why}`]
  }
  const ends = Object.entries(hosts).flatMap(([name, { processes }]) =>
    processes.length > 1 && processes.some(({ shutdown_time: end }) => end !== null) ? [name] : [],
  )
  return [
    ...named('ip_addr', 'addresses are given by the harness, and names lead to them'),
    ...named('bandwidth_down', 'a host has the bandwidth of its node of the graph'),
    ...named('bandwidth_up', 'a host has the bandwidth of its node of the graph'),
    ...ends.map(name => `${path}: hosts.${name}: shutdown_time is ignored where a host has several processes`),
    ...(network.use_shortest_path ? [] : [`${path}: network.use_shortest_path is ignored: the least delay is taken`]),
  ]
}
