/** The one direction of imports: checker <- harness -> proxy, docker -> harness; cli wires them; nothing looks upwards. */
const border = (folder, allowed) => ({
  name: `border-${folder}`,
  severity: 'error',
  comment: `${folder}/ may import ${allowed.length ? allowed.map(other => `${other}/`).join(', ') : 'no other folder'}`,
  from: { path: `^${folder}/` },
  to: {
    path: '^[^/]+\\.ts$|^(checker|harness|proxy|docker|cli|test|examples|bench)/',
    pathNot: `^(${[folder, ...allowed].join('|')})/`,
  },
})

module.exports = {
  forbidden: [
    border('proxy', []),
    border('checker', []),
    border('harness', ['checker', 'proxy']),
    border('docker', ['harness', 'proxy']),
    border('cli', ['checker', 'harness', 'proxy', 'docker']),
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
      from: { orphan: true, path: '^(checker|harness|proxy|docker|cli)/', pathNot: '\\.d\\.ts$' },
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
