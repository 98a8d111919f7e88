// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how compose files name variables
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ignoredFields, refusedFields, usedFields } from '../../docker/compose/fields.ts'
import { interpolate } from '../../docker/compose/interpolate.ts'
import { fromCompose } from '../../docker/compose/nodes.ts'
import { wordsOf } from '../../docker/compose/words.ts'
import { defineSystem, readNodes, resolveSystem } from '../../harness/config/config.ts'

const directoryWith = (compose: string): string => {
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-compose-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'compose.yaml'), compose)
  return directory
}

const read = (compose: string) => {
  const directory = directoryWith(compose)
  return { directory, ...fromCompose('compose.yaml')[readNodes](directory) }
}

/** The lines of its error, without the directory. */
const problemsOf = (compose: string): string[] => {
  const directory = directoryWith(compose)
  try {
    fromCompose('compose.yaml')[readNodes](directory)
  } catch (error) {
    return (error as Error).message.replaceAll(`${directory}/`, '').split('\n')
  }
  return []
}

describe('services become nodes', () => {
  test('of an image, with all that its container is given', () => {
    const { directory, nodes } = read(`
services:
  db:
    image: redis:7
    command: redis-server --port 6379 --save ''
    entrypoint: ["/entry", "--now"]
    environment: { A: 1, B: "two", C: true }
    user: 999
    working_dir: /data
    read_only: true
    mem_limit: 256m
    pids_limit: 50
    shm_size: 64m
    pull_policy: if_not_present
    tmpfs: /run
    volumes:
      - data:/data
      - ./seed:/seed:ro
      - /anonymous
      - { type: tmpfs, target: /cache }
      - { type: bind, source: ./more, target: /more, read_only: true }
    healthcheck: { test: redis-cli ping }
volumes:
  data:
`)
    expect(nodes).toEqual({
      db: {
        image: 'redis:7',
        command: ['redis-server', '--port', '6379', '--save', ''],
        env: { A: '1', B: 'two', C: 'true' },
        cwd: '/data',
        healthy: ['/bin/sh', '-c', 'redis-cli ping'],
        container: {
          entrypoint: ['/entry', '--now'],
          user: '999',
          volumes: ['/data', `${directory}/seed:/seed:ro`, '/anonymous', `${directory}/more:/more:ro`],
          tmpfs: ['/run', '/cache'],
          readOnly: true,
          memory: '256m',
          pids: 50,
          pull: 'missing',
        },
        limits: { shm: '64m' },
      },
    })
    expect(
      resolveSystem(defineSystem({ name: 'x', nodes: fromCompose('compose.yaml') }), { directory }).nodes,
    ).toMatchObject([
      {
        name: 'db',
        container: { memoryBytesMax: 256 << 20, pidsMax: 50 },
        limits: { memoryBytesMax: 256 << 20, processesMax: 50, shmBytesMax: 64 << 20 },
      },
    ])
  })

  test('as many as it is scaled to, which share its name, after those that it depends on', () => {
    const { nodes } = read(`
services:
  web: { image: web, depends_on: [db, cache], deploy: { replicas: 2 } }
  cache: { image: cache, depends_on: { db: { condition: service_healthy }, seed: { condition: service_completed_successfully } }, scale: 1 }
  seed: { image: seed }
  db: { image: db, healthcheck: { test: [CMD, ready, --now] } }
`)
    expect(nodes.seed!.exits).toBe('completes')
    expect(Object.entries(nodes).map(([name, { aliases, healthy, after }]) => [name, aliases, healthy, after])).toEqual(
      [
        ['db', undefined, ['ready', '--now'], undefined],
        ['seed', undefined, undefined, undefined],
        ['cache', undefined, undefined, ['db', 'seed']],
        ['web-1', ['web'], undefined, undefined],
        ['web-2', ['web'], undefined, undefined],
      ],
    )
  })

  test('of what is built, by the name that Compose gives it', () => {
    const { directory, nodes, notes } = read(`
name: The_Shop!
services:
  web: { build: ./web }
  worker:
    image: shop/worker
    pull_policy: build
    build: { context: ., dockerfile: deep/Dockerfile, target: run, args: [A=1, NOT_SET_AT_ALL], cache_from: [x] }
`)
    expect(Object.values(nodes).map(({ image, container }) => [image, container!.pull, container!.build])).toEqual([
      ['the_shop-web', undefined, { context: `${directory}/web`, args: {} }],
      ['shop/worker', 'never', { context: directory, dockerfile: 'deep/Dockerfile', target: 'run', args: { A: '1' } }],
    ])
    expect(notes).toEqual([])
    const { nodes: resolved } = resolveSystem(defineSystem({ name: 'x', nodes: fromCompose('compose.yaml') }), {
      directory,
    })
    expect(resolved.map(({ container }) => container!.build!.dockerfile)).toEqual([
      `${directory}/web/Dockerfile`,
      `${directory}/deep/Dockerfile`,
    ])
  })

  test('with what other engines need to be told, which changes nothing here', () => {
    const { nodes, notes } = read(`
services:
  web:
    image: web
    platform: ''
    network_mode: bridge
    mem_limit: 1.5g
    ports: ['[::1]:8080:80', { target: '53', published: 53 }]
    depends_on: { debug: { condition: service_started, required: false } }
    volumes:
      - /:/host:ro,rslave
      - ./code:/code:cached
      - ~/data:/data
      - { type: volume, source: own, target: /own, volume: { nocopy: true } }
      - { type: bind, source: /more, target: /more, bind: { propagation: rslave }, consistency: cached }
  debug: { image: debug, profiles: [debug] }
volumes:
  own: { external: false }
  old: { external: true }
`)
    expect(notes.some(note => note.includes('volumes.old.external: the volume begins empty'))).toBe(true)
    expect(Object.keys(nodes)).toEqual(['web'])
    expect(nodes.web!.container).toMatchObject({
      memory: '1.5g',
      volumes: [
        '/:/host:ro',
        expect.stringMatching(/\/code:\/code$/),
        `${homedir()}/data:/data`,
        '/own',
        '/more:/more',
      ],
    })
  })

  test('what has another meaning, or none, is said', () => {
    const { directory, notes } = read(`
services:
  web:
    image: web
    restart: always
    ports: ['8080:80']
    healthcheck: { test: x, interval: 5s, retries: 3 }
`)
    expect(notes.map(note => note.replace(`${directory}/`, ''))).toEqual([
      'compose.yaml: services.web.restart: a node that is down starts again where a choice says so',
      'compose.yaml: services.web.ports: every port of a node is reached at its address, and none is published on this machine',
      'compose.yaml: services.web.healthcheck: interval, retries: a start is over when the test succeeds',
    ])
  })
})

describe('what people write in such files is read', () => {
  test('fields x-… are for others, at every place but among names', () => {
    const { nodes } = read(`
x-common: &common { image: redis, x-note: mine }
services:
  x-db: { <<: *common, environment: { x-value: 1 }, deploy: { x-more: 1, replicas: 1 } }
`)
    expect(nodes).toMatchObject({ 'x-db': { image: 'redis', env: { 'x-value': '1' } } })
  })

  test('volumes of several nodes are shared, and what several take from this machine is said to be a copy', () => {
    const { nodes, shared, notes } = read(`
services:
  web: { image: x, volumes: ['site:/site:ro', 'own:/own', './a:/a:ro'] }
  worker: { image: x, scale: 2, volumes: ['site:/data', './a:/b'] }
volumes: { site: , own: }
`)
    expect(shared).toEqual({ site: { web: '/site:ro', 'worker-1': '/data', 'worker-2': '/data' } })
    expect(nodes.web!.container!.volumes).toEqual(['/own', expect.stringMatching(/\/a:\/a:ro$/)])
    expect(notes).toEqual([
      expect.stringMatching(
        /compose\.yaml: services\.worker\.volumes: what it writes to \.\/a is its own: web has another copy$/,
      ),
    ])
  })

  test('anchors that a hundred services share are no bomb, and a bomb is refused', () => {
    const names = Array.from({ length: 200 }, (_, index) => `s${index}`)
    const services = names.map(name => `  ${name}: { <<: *base, environment: { NAME: ${name} } }`).join('\n')
    const { nodes } = read(
      `x-base: &base { image: x, labels: [a, b, c], volumes: ['/a', '/b'] }\nservices:\n${services}\n`,
    )
    expect(Object.keys(nodes)).toEqual(names)
    const letters = [...'abcdefgh']
    const levels = letters.map((name, index) => {
      const item = index === 0 ? 'x' : `*${letters[index - 1]}`
      return `${name}: &${name} [${Array(9).fill(item).join(', ')}]`
    })
    expect(problemsOf(`${levels.join('\n')}\n`)).toEqual([
      expect.stringMatching(/^compose\.yaml: its aliases cannot be resolved: excessive alias count/),
    ])
  })

  test('variables are those of .env, unless this process has them; env_file gives a service its own', () => {
    const directory = directoryWith(`
services:
  db:
    image: "redis:\${LASTNAIL_TEST_TAG}"
    env_file: [one.env, { path: none.env, required: false }]
    environment: [B=of the service, LASTNAIL_TEST_TAG, LASTNAIL_TEST_HERE]
    command: ["\${LASTNAIL_TEST_HERE}"]
`)
    writeFileSync(join(directory, '.env'), "# the release\nLASTNAIL_TEST_TAG='7.2'\nLASTNAIL_TEST_HERE=in the file\n")
    writeFileSync(join(directory, 'one.env'), 'A=1\nB="of the file"\n')
    vi.stubEnv('LASTNAIL_TEST_HERE', 'of the process')
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(fromCompose('compose.yaml')[readNodes](directory).nodes).toMatchObject({
      db: {
        image: 'redis:7.2',
        command: ['of the process'],
        env: { A: '1', B: 'of the service', LASTNAIL_TEST_TAG: '7.2', LASTNAIL_TEST_HERE: 'of the process' },
      },
    })
  })

  test('a variable gives a number or a truth value too', () => {
    const { nodes } = read(`
services:
  db:
    image: redis
    read_only: \${LASTNAIL_TEST_NOT_SET:-true}
    pids_limit: \${LASTNAIL_TEST_NOT_SET:-50}
    ports: ['\${LASTNAIL_TEST_NOT_SET:-}:6379:6379']
  web: { image: web, deploy: { replicas: '\${LASTNAIL_TEST_NOT_SET:-2}' } }
`)
    expect(nodes).toMatchObject({ db: { container: { readOnly: true, pids: 50 } }, 'web-2': {} })
    expect(problemsOf('services: { a: { image: x, read_only: "yes please", scale: "none" } }')).toEqual([
      'compose.yaml:1: services.a.scale: expected how many containers, at least 1',
      'compose.yaml:1: services.a.read_only: expected true or false',
    ])
  })

  test('all variables that are missing are named at once, with all else that is wrong', () => {
    expect(
      problemsOf(
        'services:\n  a:\n    image: "${NOT_SET_ONE}"\n    command: "${NOT_SET_TWO:?say it}"\n    pre_stop: []\n',
      ),
    ).toEqual([
      'compose.yaml:3: expected the variable NOT_SET_ONE to be set',
      'compose.yaml:4: expected the variable NOT_SET_TWO to be set (say it)',
      'compose.yaml:5: services.a.pre_stop: is not supported: a node runs its program alone',
    ])
  })

  test('services of profiles are nodes where the profile is chosen, and are named where it is not', () => {
    const compose = `
services:
  db: { image: redis }
  admin: { image: admin, profiles: [debug, tools] }
`
    const directory = directoryWith(compose)
    const readWith = (profiles?: readonly string[]) => {
      const { nodes, notes } = fromCompose('compose.yaml', { profiles })[readNodes](directory)
      return [Object.keys(nodes), notes.map(note => note.replace(`${directory}/`, ''))]
    }
    const leftOut = 'compose.yaml:4: services.admin: is left out: it belongs to the profile debug or tools'
    expect(readWith()).toEqual([['db'], [leftOut]])
    expect(readWith(['tools'])).toEqual([['db', 'admin'], []])
    expect(readWith(['*'])).toEqual([['db', 'admin'], []])
    writeFileSync(join(directory, '.env'), 'COMPOSE_PROFILES=other,debug\n')
    expect(readWith()).toEqual([['db', 'admin'], []])
  })

  test('secrets and configs are files, mounted where they are expected', () => {
    const { directory, nodes } = read(`
services:
  db:
    image: redis
    secrets: [key, { source: key, target: other, mode: 0400 }]
    configs: [{ source: conf, target: /etc/redis.conf }, conf]
secrets: { key: { file: ./key.txt } }
configs: { conf: { file: redis.conf } }
`)
    expect(nodes.db!.container!.volumes).toEqual([
      `${directory}/key.txt:/run/secrets/key:ro`,
      `${directory}/key.txt:/run/secrets/other:ro`,
      `${directory}/redis.conf:/etc/redis.conf:ro`,
      `${directory}/redis.conf:/conf:ro`,
    ])
  })
})

describe('a service that extends another one', () => {
  const filesIn = (files: Readonly<Record<string, string>>) => {
    const directory = directoryWith(files['compose.yaml']!)
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, name)), { recursive: true })
      writeFileSync(join(directory, name), content)
    }
    return { directory, read: () => fromCompose('compose.yaml')[readNodes](directory) }
  }
  const errorOf = (files: Readonly<Record<string, string>>): string => {
    const { directory, read } = filesIn(files)
    try {
      read()
    } catch (error) {
      return (error as Error).message.replaceAll(`${directory}/`, '')
    }
    return ''
  }

  test('has what it says itself, and all else of the other one; lists are appended', () => {
    const { directory, read } = filesIn({
      'compose.yaml': `
services:
  base:
    image: shop:1
    command: [serve, --slowly]
    environment: [A=1, B=2]
    volumes: ['/data', './conf:/conf:ro']
    healthcheck: { test: [CMD, ask], interval: 5s }
    profiles: [never]
  web:
    extends: base
    command: serve
    environment: { B: 3 }
    volumes: ['./other:/conf']
    healthcheck: { test: [CMD, ask, twice] }
  db:
    extends: { file: more/db.yaml, service: db }
    mem_limit: 64m
`,
      'more/db.yaml': `
services:
  db:
    extends: { service: plain }
    env_file: db.env
    volumes: ['./seed:/seed', 'kept:/kept']
  plain: { image: db:7, mem_limit: 8m }
`,
      'more/db.env': 'FROM_FILE=yes\n',
    })
    const { nodes } = read()
    // Both are of the profile.
    expect(Object.keys(nodes)).toEqual(['db'])
    expect(nodes.db).toMatchObject({
      image: 'db:7',
      env: { FROM_FILE: 'yes' },
      container: { memory: '64m', volumes: [`${directory}/more/seed:/seed`, '/kept'] },
    })
    const { nodes: all } = fromCompose('compose.yaml', { profiles: ['never'] })[readNodes](directory)
    expect(all.web).toMatchObject({
      image: 'shop:1',
      command: ['serve'],
      env: { A: '1', B: '3' },
      healthy: ['ask', 'twice'],
      container: { volumes: ['/data', `${directory}/other:/conf`] },
    })
  })

  test('is refused where that is not there, or extends it in turn', () => {
    const unset = 'services:\n  a:\n    image: "${NOT_SET_ONE}"\n'
    const web = (base: string) => `services:\n  web:\n    image: x\n    extends: ${base}\n`
    expect(errorOf({ 'compose.yaml': web('base') })).toBe(
      'compose.yaml:4: services.web.extends: expected a service, found none named base',
    )
    expect(errorOf({ 'compose.yaml': web('{ file: none.yaml, service: a }') })).toBe(
      'cannot read the compose file none.yaml: no such file',
    )
    expect(errorOf({ 'compose.yaml': web('{ file: b.yaml, service: a }'), 'b.yaml': web('web') })).toBe(
      'compose.yaml:4: services.web.extends: expected a service, found none named a in b.yaml',
    )
    expect(errorOf({ 'compose.yaml': web('{ file: b.yaml, service: a }'), 'b.yaml': unset })).toBe(
      'b.yaml:3: expected the variable NOT_SET_ONE to be set',
    )
    expect(errorOf({ 'compose.yaml': web('web') })).toBe(
      'compose.yaml:4: services.web.extends: expected no circle, but web extends web',
    )
    const circle = {
      'compose.yaml': web('{ file: b.yaml, service: web }'),
      'b.yaml': web('{ file: compose.yaml, service: web }'),
    }
    expect(errorOf(circle)).toBe('compose.yaml:1: services: expected no circle, but web extends web')
  })

  test('and services of files that are included are nodes too, by paths of their own', () => {
    const { directory, read } = filesIn({
      'compose.yaml': `
include:
  - db/compose.yaml
  - { path: web/compose.yaml, project_directory: web/root, env_file: web/vars }
services:
  shop: { image: shop, depends_on: [db, web] }
`,
      'db/compose.yaml': `
services:
  db: { image: 'db:\${TAG}', volumes: ['./seed:/seed'], secrets: [key] }
secrets: { key: { file: key.txt } }
`,
      'db/.env': 'TAG=7\n',
      'web/compose.yaml': "services: { web: { image: '${IMAGE}', volumes: ['./site:/site'] } }\n",
      'web/vars': 'IMAGE=site\n',
    })
    const { nodes } = read()
    expect(Object.keys(nodes).sort()).toEqual(['db', 'shop', 'web'])
    expect(nodes.db).toMatchObject({ image: 'db:7' })
    expect(nodes.db!.container!.volumes).toEqual([
      `${directory}/db/seed:/seed`,
      `${directory}/db/key.txt:/run/secrets/key:ro`,
    ])
    expect(nodes.web).toMatchObject({ image: 'site', container: { volumes: [`${directory}/web/root/site:/site`] } })
  })

  test('an included file that includes the first one, or has a service of its name, is refused', () => {
    expect(errorOf({ 'compose.yaml': 'include: [b.yaml]\n', 'b.yaml': 'include: [compose.yaml]\n' })).toBe(
      'b.yaml: expected no circle of files, but it includes compose.yaml',
    )
    const both = 'services:\n  a: { image: x }\n'
    expect(errorOf({ 'compose.yaml': `include: [b.yaml]\n${both}`, 'b.yaml': both })).toBe(
      'compose.yaml:3: services.a: is in an included file too',
    )
    const service = 'services:\n  b: { image: x }\n'
    expect(
      errorOf({
        'compose.yaml': `include: [b.yaml]\n${service}secrets:\n  key: { file: a }\n  same: { file: s }\n`,
        'b.yaml': 'services: {}\nsecrets:\n  key: { file: b }\n  same: { file: s }\n',
      }),
    ).toBe('compose.yaml:5: secrets.key: is in an included file too')
    expect(
      errorOf({ 'compose.yaml': 'include: [b.yaml]\n', 'b.yaml': 'services:\n  a: { image: x, scale: 0 }\n' }),
    ).toBe('b.yaml:2: services.a.scale: expected how many containers, at least 1')
  })
})

test('a service is reached by the name of its container and its aliases too', () => {
  const { nodes, notes } = read(`
services:
  db:
    image: redis
    container_name: shop-db
    networks: { back: { aliases: [database, db] }, front: }
  web: { image: web, scale: 2, networks: [front] }
networks: { back: , front: }
`)
  expect(nodes.db).toMatchObject({ aliases: ['shop-db', 'database'] })
  expect(nodes['web-1']).toMatchObject({ aliases: ['web'] })
  expect(notes.map(note => note.replace(/^.*?: /, ''))).toEqual([
    'services.db.networks: all nodes are on one network',
    'services.web.networks: all nodes are on one network',
  ])
})

test('each field of the specification is used, ignored with a reason, or refused with one', () => {
  // The properties of a service in its schema (compose-spec, 2026-06-23).
  const specified = `
  annotations attach blkio_config build cap_add cap_drop cgroup cgroup_parent command configs container_name
  cpu_count cpu_percent cpu_period cpu_quota cpu_rt_period cpu_rt_runtime cpu_shares cpus cpuset credential_spec
  depends_on deploy develop device_cgroup_rules devices dns dns_opt dns_search domainname entrypoint env_file
  environment expose extends external_links extra_hosts gpus group_add healthcheck hostname image init ipc isolation
  label_file labels links logging mac_address mem_limit mem_reservation mem_swappiness memswap_limit models
  network_mode networks oom_kill_disable oom_score_adj pid pids_limit platform ports post_start pre_stop privileged
  profiles provider pull_policy pull_refresh_after read_only restart runtime scale secrets security_opt shm_size
  stdin_open stop_grace_period stop_signal storage_opt sysctls tmpfs tty ulimits use_api_socket user userns_mode uts
  volumes volumes_from working_dir
  `.trim()
  const known = [usedFields, ignoredFields, refusedFields].flatMap(fields => Object.keys(fields))
  expect(known.sort()).toEqual(specified.split(/\s+/))
  expect(new Set(known).size).toBe(known.length)
  const lineOf = (field: string) => problemsOf(`services:\n  a:\n    image: x\n    ${field}: true\n`)
  for (const field of Object.keys(ignoredFields)) expect(lineOf(field)).toEqual([])
  for (const [field, why] of Object.entries(refusedFields))
    expect(lineOf(field)).toEqual([`compose.yaml:4: services.a.${field}: is not supported: ${why}`])
})

describe('what is wrong is refused, with its line and field', () => {
  test.each([
    ['', 'compose.yaml:1: the file: expected a compose file: { services }'],
    ['services: {}', 'compose.yaml:1: services: expected at least one service'],
    ['services:\n  a:\n    command: x', 'compose.yaml:2: services.a.image: expected the name of an image, or build'],
    [
      'services:\n  a:\n    build: https://example.com/it.git',
      'compose.yaml:3: services.a.build: expected a directory to build, or { context, dockerfile, target, args }',
    ],
    [
      'services:\n  a:\n    image: x\n    network_mode: host',
      'compose.yaml:4: services.a.network_mode: is not supported: a node has a network of its own',
    ],
    [
      'services:\n  a: { image: x }\nvolumes:\n  there:\n    driver_opts: { type: nfs }',
      'compose.yaml:5: volumes.there.driver_opts: is not supported: a volume is the node’s own disk, and begins empty',
    ],
    [
      'services:\n  a:\n    image: x\n    privileged: true',
      'compose.yaml:4: services.a.privileged: is not supported: a node has no rights on this machine',
    ],
    [
      'services:\n  a:\n    image: x\n    env_file: [none.env]',
      'compose.yaml:4: services.a.env_file: expected a file of variables, found no none.env',
    ],
    [
      'services:\n  a:\n    image: x\n    secrets: [key]',
      'compose.yaml:4: services.a.secrets.0: expected one of the file’s secrets, found none named key',
    ],
    [
      'services:\n  a:\n    image: x\n    depends_on: [b]\n  b: { image: y, profiles: [debug] }',
      'compose.yaml:4: services.a.depends_on.b: expected a service, found none named b',
    ],
    [
      'services:\n  a:\n    image: x\n    scale: 0',
      'compose.yaml:4: services.a.scale: expected how many containers, at least 1',
    ],
    [
      'services:\n  a:\n    image: x\n    volumes:\n      - data',
      "compose.yaml:5: services.a.volumes.0: expected a volume such as 'data:/var/lib/data', './here:/there:ro', or { type, source, target }",
    ],
    [
      'services:\n  a:\n    image: x\n    depends_on: [b]',
      'compose.yaml:4: services.a.depends_on.b: expected a service, found none named b',
    ],
    [
      'services:\n  a:\n    image: "${NOT_SET_AT_ALL}"',
      'compose.yaml:3: expected the variable NOT_SET_AT_ALL to be set',
    ],
    [
      'services:\n  a:\n    image: x\n    command: "echo \'a"',
      "compose.yaml:4: services.a.command: expected a closing '",
    ],
    ['services:\n  a: { image: x }\n  a: { image: y }', 'compose.yaml:3: Map keys must be unique at line 3, column 3:'],
    ['models: {}\nservices:\n  a: { image: x }', 'compose.yaml:1: models: is not supported'],
  ])('%j', (compose, problem) => {
    expect(problemsOf(compose)).toEqual([problem])
  })

  test('two services with one published port', () => {
    expect(
      problemsOf(`services:
  a: { image: x, ports: ['80:1'] }
  b:
    image: x
    ports: [ '80:2' ]
`),
    ).toEqual(['compose.yaml:5: services.b.ports.0: expected a port of its own, but 80 is published by a too'])
  })

  test('a volume at two paths of a service', () => {
    expect(problemsOf("services:\n  a: { image: x, volumes: ['data:/a', 'data:/b'] }")).toEqual([
      'compose.yaml:2: services.a.volumes.1: expected data at one path of a service',
    ])
  })

  test('a service may publish a port of TCP and of UDP; several containers of one cannot all have it', () => {
    expect(problemsOf("services:\n  web: { image: x, ports: ['53:53/tcp', '53:53/udp'] }")).toEqual([])
    expect(problemsOf("services:\n  web:\n    image: x\n    scale: 2\n    ports: ['8080:80']")).toEqual([
      'compose.yaml:5: services.web.ports.0: expected no published port of 2 containers: one alone has 8080',
    ])
  })

  test('services that wait for each other', () => {
    expect(problemsOf('services:\n  a: { image: x, depends_on: [b] }\n  b: { image: x, depends_on: [a] }')).toEqual([
      'compose.yaml:2: services.a.depends_on.b: expected no circle, but b depends on a',
      'compose.yaml:3: services.b.depends_on.a: expected no circle, but a depends on b',
    ])
  })
})

test('variables are replaced as the specification says', () => {
  const variables = { SET: 'set', EMPTY: '' }
  const replaced = ['$SET', '${SET}!', '${NONE-x}', '${EMPTY-x}', '${EMPTY:-x}', '${SET+y}', '${NONE:+y}', '$$SET']
  expect(replaced.map(text => interpolate(text, variables))).toEqual(['set', 'set!', 'x', '', 'x', 'y', '', '$SET'])
  expect(() => interpolate('${NONE:?give it}', variables)).toThrow('expected the variable NONE to be set (give it)')
  expect(() => interpolate('${constructor}', variables)).toThrow('expected the variable constructor to be set')
  expect(() => interpolate('${toString}', process.env)).toThrow('expected the variable toString to be set')
  expect(() => interpolate('${', variables)).toThrow('found ${')
})

test('the words of a command are those that were quoted', () => {
  const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`
  fc.assert(
    fc.property(fc.array(fc.string()), words => void expect(wordsOf(words.map(quoted).join(' '))).toEqual(words)),
  )
  expect(wordsOf('a  "b \\" c"\td\\ e\'f\'')).toEqual(['a', 'b " c', 'd ef'])
})
