import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { fromShadow } from '../../../cli/config/shadow.ts'
import { ConfigError, resolveSystem } from '../../../harness/config/config.ts'
import { copyOfFixtures, here, lastnail } from '../lastnail.ts'

const file = `
general:
  stop_time: 10s
  model_unblocked_syscall_latency: true
network:
  graph:
    type: 1_gbit_switch
hosts:
  server:
    network_node_id: 0
    processes:
    - path: python3
      args: -m http.server 80
      start_time: 3s
      expected_final_state: running
  client1: &client
    network_node_id: 0
    processes:
    - path: python3
      args: ['-c', 'import urllib.request as u; print(len(u.urlopen("http://server/").read()) > 0)']
      start_time: 5
  client2: *client
`
let directory: string
let remove: () => void
beforeAll(() => {
  const copy = copyOfFixtures({ 'shadow.yaml': file })
  directory = copy.directory
  remove = copy.remove
})
afterAll(() => remove())

test('a configuration of Shadow is emulated: hosts begin at their times, and names lead to them', async () => {
  const { code, stdout, stderr } = await lastnail(directory, 'emulate', 'shadow.yaml', '--out', 'run', '--json')
  expect({ code, stderr }).toMatchObject({ code: 0 })
  const { verdict, virtualSeconds, trace } = JSON.parse(stdout)
  expect({ verdict, virtualSeconds }).toEqual({ verdict: 'held', virtualSeconds: 10 })
  const outputs = readTrace(join(directory, trace)).steps.flatMap(step => step.outputs)
  const printed = outputs
    .filter(({ stream }) => stream === 'stdout')
    .map(({ node, bytes }) => `${node}: ${Buffer.from(bytes)}`)
  expect(printed.sort()).toEqual(['client1: True\n', 'client2: True\n'])
})

/** What the file becomes. */
const systemOf = (text: string) => resolveSystem(fromShadow(join(directory, 'x.yaml'), text), { directory })

test('a host with several processes runs each at its time, and leaves what Shadow alone has', () => {
  const { nodes, emulation, notes } = systemOf(
    file.replace('args: -m http.server 80', `args: -m http.server 80 --directory '../../../it is'`).replace(
      '  client1:',
      `    - { path: sleep, args: '7', start_time: 4500 ms, environment: { A: 1 } }
    ip_addr: 11.0.0.1
  short:
    network_node_id: 0
    processes:
    - { path: sleep, args: ['100'], shutdown_time: 2s, shutdown_signal: SIGKILL, expected_final_state: { signaled: SIGKILL } }
  client1:`,
    ),
  )
  const [server, short, client] = nodes
  expect(server!.command).toEqual([
    '/bin/sh',
    '-c',
    "'python3' '-m' 'http.server' '80' '--directory' './it is' &\n(sleep 1.5; exec 'sleep' '7') &\nwait",
  ])
  expect([server!.after, short!.after, client!.after]).toEqual([['short'], [], ['server', 'short']])
  expect(emulation).toMatchObject({
    initial: ['short'],
    for: 10_000,
    churn: [{ script: '3000ms join server\n2000ms leave short kill\n5000ms join client1\n5000ms join client2' }],
    place: { server: 'router 0', client1: 'router 0' },
  })
  expect(notes).toEqual([expect.stringContaining('ip_addr of server is ignored: addresses are given by the harness')])
})

test('an older file has several hosts and processes that are alike, and says when a process is killed', () => {
  const { nodes, emulation } = systemOf(
    file.replace(
      / {2}client1:[\s\S]*/,
      `  peer:
    network_node_id: 0
    quantity: 2
    processes:
    - { path: sleep, args: '9', quantity: 2, start_time: 1 }
  last:
    network_node_id: 0
    processes:
    - { path: sleep, args: '100', stop_time: 4s }
`,
    ),
  )
  expect(nodes.map(({ name }) => name)).toEqual(['server', 'peer1', 'peer2', 'last'])
  expect(nodes[1]!.command).toEqual(['/bin/sh', '-c', "'sleep' '9' &\n'sleep' '9' &\nwait"])
  expect(emulation!.churn).toEqual([
    { script: '3000ms join server\n1000ms join peer1\n1000ms join peer2\n4000ms leave last kill' },
  ])
})

test.each([
  [
    'hosts.server.processes[0].start_time: expected a time such as 3 s or 2 min',
    file.replace('start_time: 3s', 'start_time: soon'),
  ],
  [
    'hosts.client1.network_node_id: expected the number',
    file.replace(
      /network_node_id: 0\n {4}processes:\n {4}- path: python3\n {6}args: \[/,
      'processes:\n    - path: python3\n      args: [',
    ),
  ],
  ['network.graph: expected a file or inline', file.replace('1_gbit_switch', 'gml')],
  ['network.graph.inline: line 1: the file ends', file.replace('1_gbit_switch', 'gml\n    inline: "graph [ node"')],
  ['expected a host with a process', file.replace(/hosts:[\s\S]*/, 'hosts: {}')],
])('a wrong one is refused: %s', (message, text) => {
  expect(() => systemOf(text)).toThrow(ConfigError)
  expect(() => systemOf(text)).toThrow(message)
})

test('the same file can be checked: clients begin once the server is ready', async () => {
  writeFileSync(join(directory, 'check.yaml'), file)
  const { code, stdout } = await here(directory, 'check', 'check.yaml', '--executions', '2', '--workers', '1', '--json')
  expect({ code, verdict: JSON.parse(stdout.trim().split('\n').at(-1)!).verdict }).toEqual({ code: 0, verdict: 'held' })
})
