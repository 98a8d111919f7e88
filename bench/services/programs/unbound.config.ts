import { always, defineSystem } from 'lastnail'
import { lookUp } from './dns.ts'

const settings = `
server:
  interface: 0.0.0.0
  do-ip6: no
  do-daemonize: no
  use-syslog: no
  username: ""
  chroot: ""
  pidfile: ""
  module-config: "iterator"
  access-control: 0.0.0.0/0 allow
forward-zone:
  name: "."
  forward-addr: {{names.address}}
`

/** A resolver with a cache, and dnsmasq, which knows the names. */
export default defineSystem({
  name: 'unbound',
  nodes: {
    resolver: {
      command: ['sh', '-c', 'echo "$SETTINGS" > /tmp/conf; exec unbound -c /tmp/conf'],
      env: { SETTINGS: settings },
      listens: 53,
    },
    names: {
      command: [
        'dnsmasq',
        '--keep-in-foreground',
        '--no-resolv',
        '--no-hosts',
        '--user=root',
        '--pid-file=',
        '--address=/org/10.1.2.3',
      ],
      listens: 53,
    },
  },
  state: node => node.output().stderr.length,
  clients: {
    a: { run: ({ resolver }, { ordinal }) => lookUp(resolver!, `www${ordinal % 3}.example.org`), times: 20 },
    b: { run: ({ resolver }) => lookUp(resolver!, 'www0.example.org'), times: 20 },
  },
  properties: { answers: always(({ nodes }) => nodes.length === 2) },
})
