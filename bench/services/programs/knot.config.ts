import { always, defineSystem } from 'lastnail'
import { lookUp } from './dns.ts'

const zone = `example.org. 3600 SOA ns.example.org. admin.example.org. 1 5 2 60 60
example.org. 60 NS ns.example.org.
ns.example.org. 60 A 10.1.2.3
www.example.org. 60 A 10.1.2.4
`

const settings = (peer: string, isPrimary: boolean) => `
server:
    listen: 0.0.0.0@53
    rundir: /tmp
database:
    storage: /tmp/knot
remote:
  - id: peer
    address: ${peer}
acl:
  - id: peer
    address: ${peer}
    action: [transfer, notify]
zone:
  - domain: example.org
    storage: /tmp
    ${isPrimary ? 'notify' : 'master'}: peer
    acl: peer
`

const server = (peer: string, isPrimary: boolean) => ({
  command: [
    'sh',
    '-c',
    `echo "$SETTINGS" > /tmp/conf; ${isPrimary ? 'echo "$ZONE" > /tmp/example.org.zone; ' : ''}exec knotd -c /tmp/conf`,
  ],
  env: { SETTINGS: settings(`{{${peer}.address}}`, isPrimary), ZONE: zone },
  listens: 53,
})

/** Two name servers: the second copies the zone of the first. */
export default defineSystem({
  name: 'knot',
  nodes: { primary: server('secondary', true), secondary: server('primary', false) },
  state: node => node.output().stderr.length,
  clients: {
    a: { run: ({ primary }) => lookUp(primary!, 'www.example.org'), times: 20 },
    b: { run: ({ secondary }) => lookUp(secondary!, 'www.example.org'), times: 20 },
  },
  properties: { answers: always(({ nodes }) => nodes.length === 2) },
})
