/** The one direction of imports: checker <- harness -> proxy -> linux, harness -> topologies, checker <- report, docker -> harness; checker <- campaign; topologies -> checker/happening; cli wires them; nothing looks upwards. */
const border = (folder, allowed) => ({
  name: `border-${folder}`,
  severity: 'error',
  comment: `${folder}/ may import ${allowed.length ? allowed.map(other => `${other}/`).join(', ') : 'no other folder'}`,
  from: { path: `^${folder}/` },
  to: {
    path: '^[^/]+\\.ts$|^(checker|harness|linux|proxy|report|topologies|docker|campaign|cli|test|examples|bench)/',
    pathNot: `^(${[folder, ...allowed].join('|')})/`,
  },
})

/** In a folder, the rooms from the lowest to the highest: each imports only those before it. */
const floors = (folder, rooms) =>
  rooms.slice(0, -1).map((room, index) => ({
    name: `floor-${folder}-${room.join('-').replaceAll('/', '')}`,
    severity: 'error',
    comment: `${folder}/: ${room.join(', ')} may not import ${rooms
      .slice(index + 1)
      .flat()
      .join(', ')}`,
    from: { path: `^${folder}/(${room.join('|')})` },
    to: {
      path: `^${folder}/(${rooms
        .slice(index + 1)
        .flat()
        .join('|')})`,
    },
  }))

module.exports = {
  forbidden: [
    ...floors('checker', [
      ['happening/'],
      ['system/'],
      ['history/', 'choosers/'],
      ['trace/', 'cells/'],
      ['searches/'],
      ['verdict/'],
      ['[a-z]+\\.ts$'],
    ]),
    ...floors('checker/searches', [['[a-z-]+\\.ts$'], ['local/'], ['deviations/']]),
    ...floors('harness', [
      ['unsynced/', 'outside/'],
      ['config/'],
      ['hold/'],
      ['files/'],
      ['rewind/'],
      ['runner/', 'timed/'],
      ['checkpoint/'],
      ['node/'],
      ['clients/'],
      ['execution/', 'native/'],
      ['running\\.ts$'],
      ['cluster\\.ts$'],
      ['steering/'],
      ['emulation/'],
    ]),
    ...floors('harness/hold', [
      ['clock/', 'turns/'],
      ['held/'],
      ['instructions/', 'calls/', 'start/'],
      ['files/', 'rest/'],
      ['[a-z-]+\\.ts$'],
    ]),
    ...floors('harness/rewind', [['calls/'], ['memory/'], ['[a-z-]+\\.ts$']]),
    ...floors('harness/execution', [['choices/'], ['[a-z-]+\\.ts$']]),
    ...floors('proxy', [['packets/', 'dns/'], ['[a-z-]+\\.ts$'], ['dissect/', 'forwarding/']]),
    ...floors('topologies', [['[a-z-]+\\.ts$'], ['generate/'], ['formats/', 'summary/'], ['picture/', 'churn/']]),
    ...floors('report', [['model/'], ['[a-z-]+\\.ts$'], ['page/']]),
    ...floors('docker', [['[a-z-]+\\.ts$'], ['compose/']]),
    ...floors('cli', [
      ['command/'],
      ['config/'],
      ['session/'],
      ['workers/'],
      ['traces/'],
      ['check/'],
      ['schedules/'],
      ['campaign/', 'doctor/', 'emulate/', 'init/'],
      ['verify/'],
      ['debug/'],
      ['mcp/', 'serve/'],
      ['printed/'],
      ['[a-z-]+\\.ts$'],
    ]),
    border('linux', []),
    border('proxy', ['linux']),
    border('checker', []),
    border('topologies', ['checker/happening']),
    border('harness', ['checker', 'linux', 'proxy', 'topologies']),
    border('docker', ['harness', 'linux', 'proxy']),
    border('campaign', ['checker']),
    border('report', ['checker']),
    border('cli', ['checker', 'harness', 'linux', 'proxy', 'report', 'topologies', 'docker', 'campaign']),
    {
      name: 'report-reads-traces',
      severity: 'error',
      comment: 'report/ shows what a trace holds, and searches nothing',
      from: { path: '^report/' },
      to: {
        path: '^checker/',
        pathNot: '^checker/(happening/|trace/|verdict/verdict|system/(system|labels|brief)\\.)',
      },
    },
    {
      name: 'page-runs-in-a-browser',
      severity: 'error',
      comment: 'what the page is made of knows nothing of Node',
      from: { path: '^report/(page|model)/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'checker-is-pure',
      severity: 'error',
      comment: 'checker/ knows nothing of Linux, processes or sockets',
      from: { path: '^checker/' },
      to: { path: 'koffi|execa|undici|^(node:)?(child_process|net|dgram|http|worker_threads)$' },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: {
        orphan: true,
        path: '^(checker|harness|linux|proxy|report|topologies|docker|campaign|cli)/',
        pathNot: '\\.d\\.ts$',
      },
      to: {},
    },
    { name: 'not-resolvable', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: '^lastnail' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
}
