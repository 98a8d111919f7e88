import { join } from 'node:path'

/**
 * Files whose tests start no process and take little: those of `npm run test:fast`. One that starts a process fails there
 * (`no-processes.ts`). By folder; searches of larger systems in memory are left out, because they take a minute by themselves.
 */
const files: Readonly<Record<string, string>> = {
  '.': 'rooms',
  campaign: 'batches bucket redis-address schedule-file states-met',
  checker: 'notes straight-way',
  'checker/cells': 'held-again node-marks offers schedule',
  'checker/choosers': 'due in-time interrupted long-pauses long-waits priorities surprises vain-calls',
  'checker/history': 'known property random smallest',
  'checker/searches': 'bandit',
  'checker/searches/local': 'hopeless',
  'checker/system': 'brief carried far-timers harm labels nearness random start subjects',
  'checker/trace': 'keep trace',
  'checker/verdict': 'oldest-first overtakings send-later shrink',
  'cli/check': 'step-pattern',
  'cli/init': 'first-config',
  'cli/emulate': 'cpu-pressure pipe-settings settings',
  'cli/emulate/plots': 'plot',
  'cli/traces': 'older-names',
  'cli/workers': 'in-common',
  docker: 'compose public-files',
  harness: 'filters neighbourhoods',
  'harness/config': 'config notes',
  'harness/execution': 'first-difference',
  'harness/execution/choices': 'partitions',
  'harness/held': 'call-content courtesy cpu-limit instruction periods table',
  'harness/files': 'unsynced',
  'harness/outside': 'answers',
  'harness/rewind': 'units',
  'harness/timed': 'connections flow links measurements reach standstills time-copy wiring',
  proxy: 'dissect http2 network network-mark outbox packet protocols routers segment-lengths tcp tls up-hosts',
  'proxy/forwarding': 'cross-traffic pipe router time-to-live',
  report: 'happened issue model runs',
  topologies: 'bad-files formats formats-of-others generate inet place routes summary',
  'topologies/churn': 'model script',
}

export const fast: readonly string[] = Object.entries(files).flatMap(([folder, names]) =>
  names.split(' ').map(name => join('test', folder, `${name}.test.ts`)),
)
