/** The one direction of imports: checker <- harness -> proxy, harness -> topologies, checker <- report, docker -> harness; topologies imports nothing; cli wires them; nothing looks upwards. */
const border = (folder, allowed) => ({
  name: `border-${folder}`,
  severity: 'error',
  comment: `${folder}/ may import ${allowed.length ? allowed.map(other => `${other}/`).join(', ') : 'no other folder'}`,
  from: { path: `^${folder}/` },
  to: {
    path: '^[^/]+\\.ts$|^(checker|harness|proxy|report|topologies|docker|cli|test|examples|bench)/',
    pathNot: `^(${[folder, ...allowed].join('|')})/`,
  },
})

module.exports = {
  forbidden: [
    border('proxy', []),
    border('checker', []),
    border('topologies', []),
    border('harness', ['checker', 'proxy', 'topologies']),
    border('docker', ['harness', 'proxy']),
    border('report', ['checker']),
    border('cli', ['checker', 'harness', 'proxy', 'report', 'topologies', 'docker']),
    {
      name: 'report-reads-traces',
      severity: 'error',
      comment: 'report/ shows what a trace holds, and searches nothing',
      from: { path: '^report/' },
      to: { path: '^checker/', pathNot: '^checker/(trace/|verdict|system)' },
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
      from: { orphan: true, path: '^(checker|harness|proxy|report|topologies|docker|cli)/', pathNot: '\\.d\\.ts$' },
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
