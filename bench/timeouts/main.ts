/**
 * What a check says of plain services with time-outs that are correct in a prompt network: `npm run bench:timeouts -- [--executions N] [NAME…]`. Each
 * calls another one with a time-out. Each is checked with the network as slow as it likes (the default), with
 * messages that take two seconds at the most, and with one clock for all nodes.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { packageRoot } from '../corpus/package-root.ts'

const go = (name: string) => ({ command: [`./${name}`], build: ['go', 'build', '-o', name, `${name}.go`] })

const services: Readonly<Record<string, { readonly command: readonly string[]; readonly build?: readonly string[] }>> =
  {
    fetch: { command: ['node', 'fetch.cjs'] },
    'fetch-signal': { command: ['node', 'fetch-signal.cjs'] },
    'fetch-retry': { command: ['node', 'fetch-retry.cjs'] },
    request: { command: ['node', 'request.cjs'] },
    urllib: { command: ['python3', 'urllib.py'] },
    client: { command: ['python3', 'client.py'] },
    streams: { command: ['python3', 'streams.py'] },
    timeout: go('timeout'),
    context: go('context'),
    dial: go('dial'),
  }

const networks: Readonly<Record<string, string>> = {
  'as slow as it likes': '',
  "delay: '2s'": "delay: '2s',",
  "clocks: 'together'": "clocks: 'together',",
}

const configurationOf = (name: string, command: readonly string[], network: string) => `
import { always, defineSystem } from 'lastnail'
const call = async ({ web }) => { const { statusCode, body } = await web.http(8080, '/'); await body.text(); return statusCode }
export default defineSystem({
  name: ${JSON.stringify(name)},
  nodes: {
    back: { command: ['node', 'back.cjs'], listens: 8080 },
    web: { command: ${JSON.stringify(command)}, env: { BACK: '{{back.address}}' }, listens: 8080 },
  },
  ${network}
  clients: { ann: { run: call, times: 2 }, bob: { run: call, times: 2 } },
  properties: {
    everyCallSucceeds: always(({ calls }) => calls.every(({ error, value }) => error === undefined && (value ?? 200) === 200)),
  },
})
`

interface Found {
  readonly verdict: string
  readonly property: string | null
  readonly kind: string | null
  readonly executions: number
  readonly delayMs: number | null
}

const { values, positionals } = parseArgs({
  options: { executions: { type: 'string', default: '100' } },
  allowPositionals: true,
})

const check = (directory: string, config: string): string => {
  const args = ['check', config, '--executions', values.executions, '--workers', '1', '--json']
  const { stdout, status } = spawnSync(process.execPath, [join(packageRoot, 'bin/lastnail.js'), ...args], {
    cwd: directory,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const line = stdout.trimEnd().split('\n').at(-1)
  if (!line) return `exit ${status}`
  const { verdict, property, kind, executions, delayMs } = JSON.parse(line) as Found
  if (verdict !== 'violated') return `${verdict}, ${executions}`
  return `${property ?? kind}${delayMs === null ? '' : `, only where a message takes ${delayMs / 1000} s`}`
}

const directory = mkdtempSync(join(tmpdir(), 'lastnail-timeouts-'))
try {
  cpSync(join(packageRoot, 'bench/timeouts/programs'), directory, { recursive: true })
  for (const name of positionals.length > 0 ? positionals : Object.keys(services)) {
    const { command, build } = services[name]!
    if (build) execFileSync(build[0]!, build.slice(1), { cwd: directory, env: { ...process.env, CGO_ENABLED: '0' } })
    const cells = Object.entries(networks).map(([title, network]) => {
      writeFileSync(join(directory, 'lastnail.config.ts'), configurationOf(name, command, network))
      return `${title}: ${check(directory, 'lastnail.config.ts')}`
    })
    console.log(`${name}: ${cells.join(' | ')}`)
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
