import { always, defineSystem } from 'lastnail'

const client = (statement: string) => ({
  command: [
    'sh',
    '-c',
    `until while :; do echo '${statement};'; sleep 1; done | mariadb -h {{primary.address}} -N -n test; do sleep 1; done`,
  ],
})

/** A server with its own defaults, and two clients that ask it every second over connections that they keep. */
export default defineSystem({
  name: 'mariadb',
  nodes: {
    primary: {
      command: [
        'sh',
        '-c',
        'exec mariadbd --user=root --datadir="$PWD/cache/data" --socket=/tmp/db --skip-grant-tables --bind-address=0.0.0.0',
      ],
      listens: 3306,
    },
    c1: client('insert into notes(text) values (now(6)); select last_insert_id()'),
    c2: client('select count(*), rand() from notes'),
  },
  state: node => node.output().stdout,
  properties: { answers: always(({ nodes }) => nodes.length === 3) },
})
