import { always, defineSystem } from 'lastnail'
import { query } from './postgres.ts'

const psql = (statement: string) => ({
  command: [
    'sh',
    '-c',
    `until echo '${statement} \\watch 1' | psql -qAt -h {{primary.address}} -U postgres; do sleep 1; done`,
  ],
})

/** A server with its own defaults, and two clients that ask it every second over connections that they keep. */
export default defineSystem({
  name: 'postgresql',
  nodes: {
    primary: {
      command: [
        'setpriv',
        '--reuid=postgres',
        '--regid=postgres',
        '--clear-groups',
        '/usr/lib/postgresql/15/bin/postgres',
        '-D',
        'cache/data',
        '-c',
        'listen_addresses=*',
      ],
      listens: 5432,
    },
    c1: psql('insert into notes(text) values (clock_timestamp()::text) returning id'),
    c2: psql('select count(*) from notes'),
  },
  state: node => node.output().stdout,
  clients: {
    write: {
      run: ({ primary }, { ordinal }) =>
        query(primary!, `insert into notes(text) values ('${ordinal}') returning id, text`),
      times: 20,
    },
    read: { run: ({ primary }) => query(primary!, 'select count(*), max(id), random() from notes'), times: 20 },
    vacuum: ({ primary }) => query(primary!, 'vacuum analyze notes'),
  },
  properties: { answers: always(({ nodes }) => nodes.length === 3) },
})
