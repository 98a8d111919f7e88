import type { Compose, Service } from './schema.ts'

const reached = 'every port of a node is reached at its address, and none is published on this machine'
const computes = 'each node computes in its turn, on one CPU'
const remembers = 'memory is limited by mem_limit alone'
const killed = 'nodes are not stopped, but killed'
const chosen = 'a node that is down starts again where a choice says so'

/** Fields that do not change how a service behaves, or that a check decides differently. */
const withoutMeaning: Partial<Record<keyof Service, string>> = {
  annotations: 'containers have labels of ours alone',
  attach: 'output is kept for the check alone',
  build: 'the image must be there: nothing is built',
  container_name: 'a node has the name of its service',
  cpu_count: computes,
  cpu_percent: computes,
  cpu_period: computes,
  cpu_quota: computes,
  cpu_shares: computes,
  cpus: computes,
  cpuset: computes,
  develop: 'nothing is built again while nodes run',
  expose: reached,
  hostname: 'the host name of a node is its name',
  init: 'the program is the first process of its container',
  labels: 'containers have labels of ours alone',
  logging: 'output is kept for the check alone',
  mem_reservation: remembers,
  mem_swappiness: remembers,
  memswap_limit: remembers,
  networks: 'all nodes are on one network',
  oom_score_adj: remembers,
  restart: chosen,
  stdin_open: 'nobody writes to a node, and it has no terminal',
  stop_grace_period: killed,
  stop_signal: killed,
  tty: 'nobody writes to a node, and it has no terminal',
  ulimits: 'nodes have the limits of the configuration',
}

/** One line for each field that is ignored here or has another meaning. */
export const composeNotesOf = (file: string, { services }: Compose): string[] =>
  Object.entries(services).flatMap(([name, service]) => {
    const note = (field: string, why: string) => `${file}: services.${name}.${field}: ${why}`
    const fields = Object.entries(withoutMeaning)
      .filter(([field]) => service[field as keyof Service] !== undefined)
      .map(([field, why]) => note(field, why))
    const check = Object.keys(service.healthcheck ?? {}).filter(field => field !== 'test' && field !== 'disable')
    return [
      ...fields,
      ...(service.ports.length > 0 ? [note('ports', reached)] : []),
      ...(check.length > 0 ? [note('healthcheck', `${check.join(', ')}: a start is over when the test succeeds`)] : []),
      ...(service.deploy.restart_policy === undefined ? [] : [note('deploy.restart_policy', chosen)]),
    ]
  })
