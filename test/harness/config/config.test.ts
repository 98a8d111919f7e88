import { describe, expect, expectTypeOf, test } from 'vitest'
import { defaultWeights } from '../../../checker/choosers/weights.ts'
import {
  always,
  ConfigError,
  command,
  defineSystem,
  type ExecResult,
  eventually,
  isSystemDefinition,
  jsonFile,
  jsonLines,
  type NodeHandle,
  resolveSystem,
  withAddresses,
} from '../../../harness/config/config.ts'
import type { Dissector } from '../../../proxy/dissector.ts'

const directory = '/configs'
const nodes = { n1: { command: ['node', 'server.js'] }, n2: { command: ['node', 'server.js'] } }
const dissector: Dissector = {
  name: 'none',
  stream: () => ({ push: () => [], rest: () => Buffer.alloc(0) }),
  datagram: () => '',
}

const problemsOf = (definition: unknown): readonly string[] => {
  try {
    resolveSystem(definition as never, { directory })
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

describe('a right definition', () => {
  test('a definition is filled with defaults', () => {
    const { dissectorOf, ...system } = resolveSystem(defineSystem({ name: 'raft', nodes }), { directory })
    const node = {
      command: ['node', 'server.js'],
      env: {},
      image: undefined,
      cwd: directory,
      disk: 'kept',
      exits: 'crash',
      listens: [],
      after: [],
      container: undefined,
      healthy: undefined,
      aliases: [],
      write: [],
      limits: { memoryBytesMax: 2 ** 31, processesMax: 512, shmBytesMax: 2 ** 28, diskBytesMax: 2 ** 30 },
      shared: [],
    }
    expect(system).toEqual({
      name: 'raft',
      nodes: [
        { name: 'n1', ...node },
        { name: 'n2', ...node },
      ],
      observe: undefined,
      clients: [],
      properties: {},
      faults: {
        split: 0,
        drop: 0,
        duplicate: 0,
        reset: 0,
        crash: 0,
        silent: 0,
        power: 0,
        disk: 0,
        calls: 0,
        partition: 0,
        pause: 0,
        preempt: 0,
        clock: 0,
        name: 0,
      },
      diskModel: undefined,
      cutMsMin: 0,
      outside: [],
      names: {},
      trustsOutside: false,
      strikes: [],
      diskFailures: ['sync', 'full', 'short'],
      resetsOnly: undefined,
      faultsOf: {
        split: undefined,
        drop: undefined,
        duplicate: undefined,
        reset: undefined,
        crash: undefined,
        silent: undefined,
        power: undefined,
        disk: undefined,
        calls: undefined,
        partition: undefined,
        pause: undefined,
        preempt: undefined,
        clock: undefined,
        name: undefined,
      },
      overlap: 1,
      divide: 4,
      clockSkewMsMax: Number.POSITIVE_INFINITY,
      delayMsMax: Number.POSITIVE_INFINITY,
      bufferBytesMax: Number.POSITIVE_INFINITY,
      weights: defaultWeights,
      goals: [],
      fingerprint: 'observed',
      messageBytesMax: Number.POSITIVE_INFINITY,
      stepCpuMsMax: 2000,
      publish: [],
      emulation: {
        hops: 'collapsed',
        churn: [],
        for: 60_000,
        look: 1000,
        looks: 'still',
        pace: 'virtual',
        links: [],
        place: {},
        clocks: {},
        clients: {},
        measure: {},
      },
      notes: [],
    })
    expect(dissectorOf(7000)).toBe(undefined)
  })

  test('keeps what it says, and functions as they are', async () => {
    const put = async () => 1
    const get = async () => 2
    const state = jsonLines('stdout')
    const safety = always(() => true)
    const system = resolveSystem(
      defineSystem({
        name: 'kv-2.0_x',
        nodes: {
          a: { command: ['./a'], env: { X: '1' }, cwd: 'sub', disk: 'lost', listens: 7000 },
          b: { command: ['/b'], image: 'busybox', cwd: undefined, listens: [1, 65_535] },
        },
        state,
        clients: { put, get: { run: get, times: 3 } },
        properties: { safety },
        faults: { crash: 2 },
        overlap: 0,
        clocks: '50ms',
        weights: { fault: 0 },
        messages: { 7000: dissector },
        fingerprint: 'history',
        stepLimit: 10,
      }),
      { directory },
    )
    expect(system.nodes).toMatchObject([
      {
        name: 'a',
        command: ['./a'],
        env: { X: '1' },
        image: undefined,
        container: undefined,
        cwd: '/configs/sub',
        disk: 'lost',
        listens: [7000],
      },
      {
        name: 'b',
        command: ['/b'],
        env: {},
        image: 'busybox',
        cwd: undefined,
        disk: 'kept',
        exits: 'crash',
        listens: [1, 65_535],
      },
    ])
    expect(system.observe).toBe(state)
    expect(system.clients).toEqual([
      { name: 'put', run: put, times: 1 },
      { name: 'get', run: get, times: 3 },
    ])
    expect(system.clients[0]!.run).toBe(put)
    expect(system.properties.safety).toBe(safety)
    expect(system.faults).toEqual({
      split: 0,
      drop: 0,
      duplicate: 0,
      reset: 0,
      crash: 2,
      silent: 0,
      power: 0,
      disk: 0,
      calls: 0,
      partition: 0,
      pause: 0,
      preempt: 0,
      clock: 0,
      name: 0,
    })
    expect(system.weights).toEqual({ ...defaultWeights, fault: 0 })
    expect(system.clockSkewMsMax).toBe(50)
    expect(system.dissectorOf(7000)).toBe(dissector)
    expect(system.dissectorOf(7001)).toBe(undefined)
    expect(system).toMatchObject({ overlap: 0, fingerprint: 'history', stepCpuMsMax: 10 })
  })

  test('may say how it is emulated', () => {
    const emulation = {
      topology: { kind: 'inet', meanRtt: 130 },
      churn: ['plan.txt', { kind: 'poisson', joinsPerMinute: 1, leavesPerMinute: 2 }],
      for: '1.5m',
      look: '500ms',
    } as const
    const system = resolveSystem(defineSystem({ name: 'x', nodes, emulation }), { directory })
    expect(system.emulation).toMatchObject({
      topology: { kind: 'inet', seed: 1, meanRtt: 130 },
      churn: ['plan.txt', { kind: 'poisson', joinsPerMinute: 1, leavesPerMinute: 2, manners: ['stop'], seed: 1 }],
      for: 90_000,
      look: 500,
    })
  })

  test('may have one clock for all, and one dissector for all ports', () => {
    const system = resolveSystem(defineSystem({ name: 'x', nodes, clocks: 'together', messages: dissector }), {
      directory,
    })
    expect(system.clockSkewMsMax).toBe(0)
    expect(system.dissectorOf(1)).toBe(dissector)
  })

  test.each([
    ['2026-01-01', '2026-01-01T00:00:00Z'],
    ['2024-02-29T12:30:00Z', '2024-02-29T12:30:00Z'],
  ])('may say what clocks show first: %s', (start, expected) => {
    const alone = resolveSystem(defineSystem({ name: 'x', nodes, clocks: { start } }), { directory })
    expect([alone.clocksStart, alone.clockSkewMsMax]).toEqual([expected, Number.POSITIVE_INFINITY])
    const both = resolveSystem(defineSystem({ name: 'x', nodes, clocks: { skew: '50ms', start } }), { directory })
    expect([both.clocksStart, both.clockSkewMsMax]).toEqual([expected, 50])
  })

  test('may give its nodes by a count', () => {
    const ring = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i + 1}`, { command: ['node', `${count}`] }]))
    const system = resolveSystem(defineSystem({ name: 'ring', count: 3, nodes: ring }), { directory })
    expect(system.nodes.map(node => [node.name, node.command])).toEqual([
      ['n1', ['node', '3']],
      ['n2', ['node', '3']],
      ['n3', ['node', '3']],
    ])
  })

  test('has its placeholders replaced once addresses are known', () => {
    const system = resolveSystem(
      defineSystem({
        name: 'x',
        nodes: {
          n1: {
            command: ['node', '--peer={{n2.address}}:7000', '{{ n2.name }}'],
            env: { ALL: '{{n1.address}},{{n2.address}}' },
          },
          n2: { command: ['node'], env: { TEMPLATE: '{ {n1} }' } },
        },
      }),
      { directory },
    )
    const addresses = { n1: '10.0.0.1', n2: '10.0.0.2' }
    const [n1, n2] = system.nodes.map(node => withAddresses(node, addresses))
    expect(n1).toEqual({
      ...system.nodes[0],
      command: ['node', '--peer=10.0.0.2:7000', 'n2'],
      env: { ALL: '10.0.0.1,10.0.0.2' },
    })
    expect(n2).toEqual(system.nodes[1])
  })

  test('a definition is known by its mark', () => {
    expect(isSystemDefinition(defineSystem({ name: 'x', nodes }))).toBe(true)
    expect(isSystemDefinition({ name: 'x', nodes })).toBe(false)
    expect(isSystemDefinition(undefined)).toBe(false)
  })
})

describe('a wrong definition is refused with one line for each problem', () => {
  const cases: [what: string, definition: unknown, problems: string[]][] = [
    [
      'a command that is a string',
      { name: 'x', nodes: { ...nodes, n2: { command: 'node server.js' } } },
      ['nodes.n2.command: expected a non-empty list of strings, found "node server.js"'],
    ],
    [
      'a command that is empty, or not of strings',
      { name: 'x', nodes: { n1: { command: [] }, n2: { command: ['node', 3] } } },
      [
        'nodes.n1.command: expected a non-empty list of strings, found []',
        'nodes.n2.command[1]: expected a string, found 3',
      ],
    ],
    [
      'unknown fields',
      { name: 'x', nodes: { n1: { comand: ['node'], command: ['node'] } }, propertys: {}, faults: { lightning: 1 } },
      [
        'nodes.n1.comand: unknown field, did you mean "command"?',
        'faults.lightning: unknown field, known are split, drop, duplicate, reset, crash, silent, power, disk and 5 more',
        'propertys: unknown field, did you mean "properties"?',
      ],
    ],
    [
      'names that nodes have, and that mean no node',
      { name: 'x', nodes: { n1: { command: ['node'] } }, names: { N1: ['n1'], 'a.b': ['n2'] } },
      ['names: expected no name that a node has, found N1', 'names.a.b: there is no node n2; did you mean "n1"?'],
    ],
    [
      'directories shared with no node, at paths within others, and at none',
      {
        name: 'x',
        nodes: { n1: { command: ['node'] }, n2: { command: ['node'] } },
        shared: { a: { n1: '/a', n3: '/a' }, b: { n1: '/a/b/:ro', n2: '/ab' } },
      },
      [
        'shared.a.n3: there is no node n3; did you mean "n1"?',
        "shared.b.n1: expected a path apart from /a, which is another's, found /a/b",
      ],
    ],
    [
      'a directory shared at a relative path',
      { name: 'x', nodes: { n1: { command: ['node'] } }, shared: { a: { n1: 'data' } } },
      [
        `shared.a.n1: expected the path in each of several nodes: { uploads: { web: '/srv/uploads', worker: '/data:ro' } }, found "data"`,
      ],
    ],
    ['no nodes', { name: 'x' }, ['nodes: expected the nodes by name, found nothing']],
    ['an empty record of nodes', { name: 'x', nodes: {} }, ['nodes: expected at least one node, found {}']],
    [
      'a node without a command',
      { name: 'x', nodes: { n1: {} } },
      ['nodes.n1.command: expected a non-empty list of strings, found nothing'],
    ],
    [
      'a node that is none',
      { name: 'x', nodes: { n1: 'node' } },
      [`nodes.n1: expected a node: { command: ['program', 'argument'] }, or { image: 'name' }, found "node"`],
    ],
    [
      'a name that no host can have',
      { name: 'x', nodes: { 'n 1': { command: ['node'] } } },
      [
        "nodes: expected names of letters, digits and inner hyphens, since they are host names, found { 'n 1': { command: [Array] } }",
      ],
    ],
    [
      'a name that no file can have',
      { name: 'a/b', nodes },
      ['name: expected a name of letters, digits, dots, hyphens and underscores, found "a/b"'],
    ],
    [
      'faults for some nodes',
      { name: 'x', nodes, faults: { crash: { of: ['n9'], times: 1 } } },
      ['faults.crash.of: there is no node n9; did you mean "n1"?'],
    ],
    [
      'faults for some nodes, with other mistakes',
      { name: 'x', nodes, faults: { drop: { time: 1 }, crash: { times: 1, of: 'n1' } } },
      [
        'faults.drop.times: expected a budget, a whole number of at least 0, found nothing',
        'faults.drop.time: unknown field, did you mean "times"?',
        'faults.crash.of: expected a list of nodes, found "n1"',
      ],
    ],
    [
      'a least length that is none, or of what has no length',
      { name: 'x', nodes, faults: { crash: { times: 1, atLeast: '2s' }, partition: { times: 1, atLeast: 2 } } },
      [
        'faults.crash.atLeast: unknown field, known are times, of',
        "faults.partition.atLeast: expected a duration such as '500ms', '60s', '10m' or '1h', found 2",
      ],
    ],
    [
      'numbers of the wrong kind',
      { name: 'x', nodes, faults: { drop: -1, crash: '1' }, overlap: 0.5, stepLimit: 0, weights: { timer: -1 } },
      [
        'faults.drop: expected a budget, a whole number of at least 0, found -1',
        'faults.crash: expected a budget, a whole number of at least 0, found "1"',
        'overlap: expected a budget, a whole number of at least 0, found 0.5',
        'weights.timer: expected a weight, a number of at least 0, found -1',
        'stepLimit: expected CPU time in milliseconds, at least 1, found 0',
      ],
    ],
    [
      'words that are none of those known',
      { name: 'x', nodes, clocks: '50', fingerprint: 'all' },
      [
        `clocks: expected 'independent', 'together' or a bound in milliseconds such as '50ms', found "50"`,
        `fingerprint: expected 'observed', 'history' or 'none', found "all"`,
      ],
    ],
    [
      'a day that does not exist, and an unknown word about clocks',
      { name: 'x', nodes, clocks: { start: '2026-02-30', skew: 'far' } },
      [
        `clocks.skew: expected 'independent', 'together' or a bound in milliseconds such as '50ms', found "far"`,
        `clocks.start: expected a date or an instant in UTC, from 1971 on: '2026-01-01' or '2026-01-01T12:00:00Z', found "2026-02-30"`,
      ],
    ],
    [
      'values where functions belong',
      { name: 'x', nodes, state: 'stdout', clients: { put: 1 }, properties: { safe: () => true } },
      [
        `state: expected an observer: jsonLines('stdout'), or an async function of a node, found "stdout"`,
        'clients.put: expected an async function of the nodes, or { run, times }, found 1',
        'properties.safe: expected always(…), eventually(…) or sometimes(…), found a function',
      ],
    ],
    [
      'a port that is none',
      { name: 'x', nodes: { n1: { command: ['node'], listens: [80, 70_000] } } },
      ['nodes.n1.listens[1]: expected a port, from 1 to 65535, found 70000'],
    ],
    [
      'one port that is none',
      { name: 'x', nodes: { n1: { command: ['node'], listens: 'http' } } },
      ['nodes.n1.listens: expected a port, or a list of ports, found "http"'],
    ],
    [
      'one port that is too large',
      { name: 'x', nodes: { n1: { command: ['node'], listens: 70_000 } } },
      ['nodes.n1.listens[0]: expected a port, from 1 to 65535, found 70000'],
    ],
    [
      'an environment that is not of strings',
      { name: 'x', nodes: { n1: { command: ['node'], env: { PORT: 7000 } } } },
      ['nodes.n1.env.PORT: expected a string, found 7000'],
    ],
    [
      'messages that are no dissector',
      { name: 'x', nodes, messages: { http: dissector } },
      [
        "messages: expected a dissector such as frames.lines(), or dissectors by port, found { http: { name: 'none', stream: [Function: stream], datagram: [Function: datagram] } }",
      ],
    ],
    [
      'placeholders of no node, or of no field',
      {
        name: 'x',
        nodes: { n1: { command: ['node', '{{n9.address}}'], env: { A: '{{n1.port}}', B: '{{leader.name}}' } } },
      },
      [
        'nodes.n1.command[1]: {{n9.address}} names no node; did you mean "n1"?',
        'nodes.n1.env.A: expected {{n1.address}} or {{n1.name}}, found {{n1.port}}',
        'nodes.n1.env.B: {{leader.name}} names no node; the only one is n1',
      ],
    ],
    [
      'a function of no count',
      { name: 'x', nodes: () => nodes },
      ['count: expected the number of nodes, since nodes is a function of it, found nothing'],
    ],
    [
      'a count without a function',
      { name: 'x', nodes, count: 3 },
      ['count: expected nothing, since nodes is not a function of it, found 3'],
    ],
    [
      'a function that throws',
      {
        name: 'x',
        count: 1,
        nodes: () => {
          throw new Error('no such ring')
        },
      },
      ['nodes: expected a function that gives the nodes, but it threw "no such ring"'],
    ],
    ['no definition at all', undefined, ['the definition: expected a definition: { name, nodes, … }, found nothing']],
  ]
  test.each(cases)('a definition is refused: %s', (_, definition, problems) => {
    expect(problemsOf(definition)).toEqual(problems)
  })

  test('the message is all of the lines', () => {
    expect(() => resolveSystem({ name: '' } as never, { directory })).toThrow(
      'name: expected a name of letters, digits, dots, hyphens and underscores, found ""\n' +
        'nodes: expected the nodes by name, found nothing',
    )
  })
})

describe('observers', () => {
  const node = (seen: { stdout?: string; files?: Record<string, string>; result?: ExecResult }) =>
    ({
      name: 'n1',
      output: () => ({ stdout: seen.stdout ?? '', stderr: '{"err":1}\n' }),
      file: async (path: string) => {
        const content = seen.files?.[path]
        if (content === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' })
        return Buffer.from(content)
      },
      exec: async () => seen.result,
    }) as unknown as NodeHandle

  test.each([
    ['the last line', '{"a":1}\n{"a":2}\n', { a: 2 }],
    ['before other lines', '{"a":1}\nlistening\n[1]\n{broken\n\n', { a: 1 }],
    ['not one that is half printed', '{"a":1}\n{"a":2}', { a: 1 }],
    ['with a carriage return', '{"a":1}\r\n', { a: 1 }],
    ['none', 'listening\n', undefined],
    ['nothing printed', '', undefined],
    ['an empty first line', '\n{"a":1}\n', { a: 1 }],
  ])('jsonLines sees the last JSON object: %s', async (_, stdout, state) => {
    expect(await jsonLines('stdout')(node({ stdout }))).toEqual(state)
    expect(await jsonLines('stderr')(node({ stdout }))).toEqual({ err: 1 })
  })

  test('jsonFile sees the file, and nothing where it is absent or half written', async () => {
    const files = { 'state.json': '{"a":[1]}', 'half.json': '{"a":' }
    expect(await jsonFile('state.json')(node({ files }))).toEqual({ a: [1] })
    expect(await jsonFile('half.json')(node({ files }))).toBe(undefined)
    expect(await jsonFile('none.json')(node({ files }))).toBe(undefined)
  })

  test('command sees what a program prints, and fails with it', async () => {
    const observer = command(['ctl', 'status'])
    expect(await observer(node({ result: { exitCode: 0, stdout: '{"a":1}\n', stderr: '' } }))).toEqual({ a: 1 })
    await expect(observer(node({ result: { exitCode: 2, stdout: '', stderr: 'down\n' } }))).rejects.toThrow(
      '"ctl status" ended with code 2 in n1: down',
    )
    await expect(observer(node({ result: { exitCode: 0, stdout: 'ok', stderr: '' } }))).rejects.toThrow(
      'expected "ctl status" to print JSON in n1, found "ok"',
    )
  })
})

describe('types', () => {
  test('nodes are known by name to a client', () => {
    defineSystem({
      name: 'x',
      nodes,
      clients: {
        put: async ({ n1, ...others }, { ordinal }) => {
          expectTypeOf(n1).toEqualTypeOf<NodeHandle>()
          expectTypeOf(others).toEqualTypeOf<{ n2: NodeHandle }>()
          expectTypeOf(ordinal).toEqualTypeOf<number>()
        },
      },
    })
  })

  test('a state can be read whether or not its shape is told', () => {
    defineSystem({
      name: 'x',
      nodes,
      state: jsonLines('stdout'),
      properties: {
        told: always<{ term: number }>(s => {
          expectTypeOf(s.nodes[0]!.state).toEqualTypeOf<{ term: number } | undefined>()
          return true
        }),
        untold: eventually(s => s.nodes.some(n => n.state?.role === 'leader') && s.calls.length > 0),
      },
    })
  })
})
