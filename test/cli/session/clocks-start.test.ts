import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { clocksStartOf } from '../../../checker/trace/again.ts'
import { readTrace } from '../../../checker/trace/read.ts'
import { clocksStartFor, clocksStartNow } from '../../../cli/session/clocks-start.ts'
import { defineSystem, resolveSystem } from '../../../harness/config/config.ts'
import { has } from '../../has.ts'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

const dayMs = 24 * 3600 * 1000

const systemWith = (clocks?: { readonly start: string }) =>
  resolveSystem(defineSystem({ name: 'x', nodes: { a: { command: ['a'] } }, clocks }), { directory: '/' })

test('clocks begin at the next midnight, at the pace of this machine now, or as the configuration says', () => {
  const start = Date.parse(clocksStartFor(systemWith()))
  expect(start % dayMs).toBe(0)
  expect(start).toBeGreaterThanOrEqual(Date.now() - 1000)
  expect(start).toBeLessThan(Date.now() + dayMs)
  expect(Math.abs(Date.parse(clocksStartNow(systemWith())) - Date.now())).toBeLessThan(5000)
  const pinned = systemWith({ start: '2024-02-29' })
  expect([clocksStartFor(pinned), clocksStartNow(pinned)]).toEqual(Array(2).fill('2024-02-29T00:00:00Z'))
})

/** Two timers of each node, each of which prints the date. */
const dated = (clocks: string, max = 3) => `
  import { always, defineSystem, jsonLines } from 'lastnail'
  export default defineSystem({
    name: 'dated',
    nodes: { a: { command: ['node', 'dated.cjs'] }, b: { command: ['node', 'dated.cjs'] } },
    state: jsonLines('stdout'),
    ${clocks}
    properties: { few: always(state => state.nodes.reduce((sum, node) => sum + (node.state?.fired ?? 0), 0) < ${max}) },
    emulation: { for: '3s' },
  })`

const fixtures = (clocks: string) => {
  const files = {
    'dated.config.mjs': dated(clocks),
    'dated.cjs': `
      let fired = 0
      const show = () => console.log(JSON.stringify({ fired, at: new Date() }))
      show()
      setInterval(() => { fired++; show() }, 1000)`,
    'plain.cjs': `
      let fired = 0
      setInterval(() => console.log(JSON.stringify({ fired: ++fired })), 1000)`,
  }
  const { directory, remove } = copyOfFixtures(files)
  onTestFinished(remove)
  return directory
}

test('whatever executes a trace or a kept schedule again begins on its day, in the configuration of another day too', {
  timeout: 240_000,
}, async () => {
  const directory = fixtures("clocks: { start: '2024-02-29' },")
  const run = (...args: readonly string[]) => lastnail(directory, ...args)
  const checked = await run('check', 'dated.config.mjs', '--executions', '20', '--workers', '2', '--json')
  const { verdict, clocksStart, trace: found } = JSON.parse(checked.stdout)
  const trace = resolve(directory, found)
  expect([verdict, clocksStart]).toEqual(['violated', '2024-02-29T00:00:00Z'])
  expect(clocksStartOf(readTrace(trace))).toBe('2024-02-29T00:00:00Z')
  const kept = (await run('keep', trace)).stdout.replace(/^kept /, '')
  await run('keep', trace, '--test')
  expect(readFileSync(join(directory, 'schedules/few.test.ts'), 'utf8')).toContain(
    "    clocksStart: '2024-02-29T00:00:00Z',\n",
  )
  // As if it were another day: each step would print another date than was recorded.
  writeFileSync(join(directory, 'dated.config.mjs'), dated(''))
  for (const args of [
    ['replay', trace],
    ['shrink', trace],
    ['regress', kept],
    ['check', 'dated.config.mjs', '--from', trace, '--executions', '1', '--workers', '1'],
    ['check', 'dated.config.mjs', '--from', trace, '--executions', '1', '--workers', '2'],
  ])
    expect((await run(...args)).code, args.join(' ')).toBe(1)
  expect((await run('repeat', trace, '--times', '2')).code).toBe(0)
  expect((await run('verify', trace, '--execute')).code).toBe(1)
  expect(datesIn(trace.replace(/\.trace$/, '.shrunk.trace'))).toEqual(['2024-02-29'])
  // A schedule of before says nothing of clocks.
  const { clocksStart: _, ...older } = JSON.parse(readFileSync(kept, 'utf8'))
  writeFileSync(kept, JSON.stringify(older))
  const confirmed = JSON.parse((await run('confirm', kept, '--executions', '1', '--json')).stdout)
  expect(datesIn(resolve(directory, confirmed.trace))).toEqual(['2026-01-01'])
})

const datesIn = (trace: string): string[] => {
  const outputs = readTrace(trace).steps.flatMap(({ outputs }) =>
    outputs.map(({ bytes }) => String(Buffer.from(bytes))),
  )
  return [...new Set(outputs.join('').match(/\d{4}-\d\d-\d\d/g))]
}

test('a campaign begins on one day, in its workers and in what it records', { timeout: 120_000 }, async () => {
  const directory = fixtures("clocks: { start: '2024-02-29' },")
  const args = ['campaign', 'dated.config.mjs', '--executions', '20', '--json']
  const { code, stdout } = await lastnail(directory, ...args)
  expect(code).toBe(1)
  expect(datesIn(resolve(directory, JSON.parse(stdout).bugs[0].trace))).toEqual(['2024-02-29'])
})

test('a run has another hash on another day only if it shows the date', { timeout: 120_000 }, async () => {
  const directory = fixtures('')
  const hashOf = async (program: string, start: string) => {
    const content = dated(`clocks: { start: '${start}' },`, 100).replaceAll('dated.cjs', program)
    writeFileSync(join(directory, 'dated.config.mjs'), content)
    const { code, stdout } = await lastnail(directory, 'emulate', 'dated.config.mjs', '--json')
    expect(code).toBe(0)
    return JSON.parse(stdout).hash as string
  }
  const [one, again] = [await hashOf('dated.cjs', '2024-02-29'), await hashOf('dated.cjs', '2024-02-29')]
  expect(again).toBe(one)
  expect(await hashOf('dated.cjs', '2025-06-30')).not.toBe(one)
  expect(await hashOf('plain.cjs', '2025-06-30')).toBe(await hashOf('plain.cjs', '2024-02-29'))
})

test('at the pace real, clocks begin at the present', { timeout: 60_000 }, async () => {
  const directory = fixtures('')
  writeFileSync(join(directory, 'dated.config.mjs'), dated('', 100))
  const before = Date.now()
  const args = ['emulate', 'dated.config.mjs', '--pace', 'real', '--for', '1500ms', '--json']
  const { code, stdout } = await lastnail(directory, ...args)
  const { clocksStart, trace } = JSON.parse(stdout)
  expect(code).toBe(0)
  expect(Date.parse(clocksStart)).toBeGreaterThanOrEqual(before - 1000)
  expect(Date.parse(clocksStart)).toBeLessThanOrEqual(Date.now())
  expect(datesIn(resolve(directory, trace))).toContain(clocksStart.slice(0, 10))
})

/** A server and a client that trusts its certificate, each prints `done` at the end of a request. */
const tls = {
  python: {
    needs: 'python3',
    program: `
import socket, ssl, sys, time
if sys.argv[1] == 'a':
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain('c.pem', 'k.pem')
    server = socket.create_server(('', 7000))
    while True:
        stream = context.wrap_socket(server.accept()[0], server_side=True)
        stream.sendall(stream.recv(4))
        stream.close()
stream = ssl.create_default_context(cafile='c.pem').wrap_socket(socket.create_connection(('a', 7000)), server_hostname='a')
stream.sendall(b'ping')
assert stream.recv(4) == b'ping'
print('{"done":1}', flush=True)
time.sleep(1e6)
`,
    command: ['python3', 'program'],
  },
  node: {
    needs: 'node',
    program: `
const tls = require('node:tls')
const { readFileSync } = require('node:fs')
const cert = readFileSync('c.pem')
if (process.argv[2] === 'a') tls.createServer({ cert, key: readFileSync('k.pem') }, stream => stream.pipe(stream)).listen(7000)
else {
  const stream = tls.connect({ host: 'a', port: 7000, ca: cert }, () => stream.write('ping'))
  stream.on('data', () => console.log('{"done":1}'))
  setInterval(() => {}, 1e6)
}
`,
    command: ['node', 'program'],
  },
  go: {
    needs: 'go',
    program: `
package main

import ("crypto/tls"; "crypto/x509"; "fmt"; "io"; "os"; "time")

func main() {
	if os.Args[1] == "a" {
		pair, err := tls.LoadX509KeyPair("c.pem", "k.pem")
		if err != nil { panic(err) }
		listener, err := tls.Listen("tcp", ":7000", &tls.Config{Certificates: []tls.Certificate{pair}})
		if err != nil { panic(err) }
		for {
			stream, _ := listener.Accept()
			go io.Copy(stream, stream)
		}
	}
	authority, _ := os.ReadFile("c.pem")
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	stream, err := tls.Dial("tcp", "a:7000", &tls.Config{RootCAs: pool, ServerName: "a"})
	if err != nil { panic(err) }
	stream.Write([]byte("ping"))
	io.ReadFull(stream, make([]byte, 4))
	fmt.Println("{\\"done\\":1}")
	time.Sleep(time.Hour)
}
`,
    command: ['./built'],
  },
}

test.each(Object.entries(tls))(
  'a certificate that was made just now is valid in %s, unless clocks begin before it',
  { timeout: 240_000 },
  async (_, { needs, program, command }) => {
    if (!has(needs) || !has('openssl')) return
    const words = (node: string) => JSON.stringify([...command, node])
    const { directory, remove } = copyOfFixtures({
      program,
      'tls.config.mjs': tlsConfig(words),
      'early.config.mjs': tlsConfig(words, "start: '2026-01-01'"),
    })
    onTestFinished(remove)
    execFileSync('openssl', [...certificate, '-keyout', 'k.pem', '-out', 'c.pem'], { cwd: directory, stdio: 'ignore' })
    if (needs === 'go') {
      writeFileSync(join(directory, 'program.go'), program)
      execFileSync('go', ['build', '-o', 'built', 'program.go'], {
        cwd: directory,
        env: { ...process.env, CGO_ENABLED: '0' },
      })
    }
    const check = (config: string) =>
      lastnail(directory, 'check', config, '--executions', '4', '--workers', '1', '--search', 'walk', '--json')
    const { code, stdout } = await check('tls.config.mjs')
    const { verdict, sometimes } = JSON.parse(stdout)
    expect([code, verdict, sometimes.done > 0]).toEqual([0, 'held', true])
    const early = await check('early.config.mjs')
    expect(early.code).toBe(1)
    expect(JSON.parse(early.stdout)).toMatchObject({ kind: 'crash', clocksStart: '2026-01-01T00:00:00Z' })
  },
)

const certificate = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '30', '-subj', '/CN=a']
certificate.push('-addext', 'subjectAltName=DNS:a')

const tlsConfig = (words: (node: string) => string, start = '') => `
  import { defineSystem, jsonLines, sometimes } from 'lastnail'
  export default defineSystem({
    name: 'tls',
    nodes: { a: { command: ${words('a')}, listens: 7000, env: { GOMAXPROCS: '1' } }, b: { command: ${words('b')}, env: { GOMAXPROCS: '1' } } },
    state: jsonLines('stdout'),
    clocks: { skew: 'together', ${start} },
    properties: { done: sometimes(state => state.node('b').state?.done === 1) },
  })`
