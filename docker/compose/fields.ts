/**
 * What becomes of each field of a service that the Compose specification has (its schema of 2026-06-23, without the fields
 * `x-…`). A field that is not here is refused as one that is not known.
 */

/** Fields that are used, and for what. */
export const usedFields = {
  build: 'where the engine lacks the image, `docker build` makes it of `context`, `dockerfile`, `target` and `args`',
  command: 'the node’s command',
  configs: 'files beside the compose file, mounted at their targets',
  container_name: 'another name of the node',
  depends_on:
    'the order of starts; with `service_healthy`, the node starts when the other is ready, with `service_completed_successfully` when it has ended',
  deploy: '`replicas`, and `resources.limits` of memory and processes',
  entrypoint: 'in place of the image’s',
  env_file: 'variables of the node',
  environment: 'variables of the node',
  extends: 'the service is merged with the other one, of this file or another',
  healthcheck: '`test` says when the node is ready',
  image: 'the node’s image; with `build` alone, that of the name which Compose gives it',
  mem_limit: 'how much memory the node may have',
  network_mode: '`bridge` alone: a node has a network of its own',
  networks: '`aliases` are other names of the node; all nodes are on one network',
  pids_limit: 'how many processes the node may have',
  platform: '`linux/amd64` alone',
  ports: 'no port is published, but two services must not publish the same',
  profiles: 'the service is a node if one of them is chosen',
  pull_policy: 'whether an image that the engine lacks is pulled',
  read_only: 'the root of the node’s disk is not written to',
  scale: 'how many nodes',
  secrets: 'files beside the compose file, mounted at their targets',
  shm_size: 'how large `/dev/shm` may be',
  tmpfs: 'directories in memory',
  user: 'the user of the program',
  volumes:
    'the node’s disk: named ones begin empty or as in the image, those of several services are shared, and directories of this machine are not written to',
  working_dir: 'where the program begins',
} as const

const computes = 'each node computes in its turn, on one CPU'
const remembers = 'memory is limited by mem_limit alone'
const killed = 'nodes are not stopped, but killed'
const labels = 'containers have labels of ours alone'
const inputs = 'nobody writes to a node, and it has no terminal'
const names = 'names are those of the nodes'
const own = 'a node has namespaces of its own'
const rights = 'a node has what Docker gives any container'
const disk = 'a node’s disk takes no time, and has no limit of its own'

/** Fields that do not change how a service behaves, or that a check decides differently, and why. */
export const ignoredFields = {
  annotations: labels,
  attach: 'output is kept for the check alone',
  blkio_config: disk,
  cap_add: rights,
  cap_drop: rights,
  cgroup: own,
  cgroup_parent: own,
  cpu_count: computes,
  cpu_percent: computes,
  cpu_period: computes,
  cpu_quota: computes,
  cpu_rt_period: computes,
  cpu_rt_runtime: computes,
  cpu_shares: computes,
  cpus: computes,
  cpuset: computes,
  develop: 'nothing is built again while nodes run',
  dns: names,
  dns_opt: names,
  dns_search: names,
  domainname: 'the host name of a node is its name',
  expose: 'every port of a node is reached at its address, and none is published on this machine',
  extra_hosts: names,
  group_add: rights,
  hostname: 'the host name of a node is its name',
  init: 'the program is the first process of its container',
  ipc: own,
  label_file: labels,
  labels,
  links: 'all nodes are on one network',
  logging: 'output is kept for the check alone',
  mac_address: 'there is no Ethernet between nodes',
  mem_reservation: remembers,
  mem_swappiness: remembers,
  memswap_limit: remembers,
  oom_kill_disable: remembers,
  oom_score_adj: remembers,
  pid: own,
  pull_refresh_after: 'an image that is there is used as it is',
  restart: 'a node that is down starts again where a choice says so',
  runtime: 'the engine’s own runtime is used',
  security_opt: rights,
  stdin_open: inputs,
  stop_grace_period: killed,
  stop_signal: killed,
  storage_opt: disk,
  sysctls: 'a node’s kernel has settings of ours',
  tty: inputs,
  ulimits: 'nodes have the limits of the configuration',
  userns_mode: own,
  uts: own,
} as const

const hooks = 'a node runs its program alone'
const devices = 'what devices of the machine do is not held'
const windows = 'nodes run on Linux'

/** Fields without which a service could hardly do what it is meant to, and why they cannot be had. */
export const refusedFields = {
  credential_spec: windows,
  device_cgroup_rules: devices,
  devices,
  external_links: 'nodes reach nodes alone',
  gpus: devices,
  isolation: windows,
  models: 'a node runs an image',
  post_start: hooks,
  pre_stop: hooks,
  privileged: 'a node has no rights on this machine',
  provider: 'a node runs an image',
  use_api_socket: 'nodes do not reach the engine',
  volumes_from: 'name the volumes in each service',
} as const
