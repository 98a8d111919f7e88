import { existsSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { UsageError } from '../checker/errors.ts'
import { fromCompose } from '../docker/compose/nodes.ts'
import { readNodes } from '../harness/config.ts'

const fileName = 'lastnail.config.ts'

/**
 * Writes a configuration beside a compose file.
 *
 * @returns its path
 * @throws ConfigError where the compose file is wrong, UsageError where there is a configuration already
 */
export const writeConfig = (composePath: string): string => {
  const compose = resolve(composePath)
  const { nodes } = fromCompose(compose)[readNodes](dirname(compose))
  const path = join(dirname(compose), fileName)
  if (existsSync(path)) throw new UsageError(`expected no ${path} yet, and would not overwrite it`)
  writeFileSync(path, configFor(basename(compose), Object.keys(nodes)))
  return path
}

const configFor = (
  compose: string,
  nodes: readonly string[],
) => `import { always, defineSystem, fromCompose } from 'lastnail'

export default defineSystem({
  name: '${basename(compose).replace(/\.ya?ml$/, '')}',
  nodes: fromCompose('${compose}'), // ${nodes.join(', ')}
  // How the state of a node is seen, which properties speak of: from its output, a file, a command, or over HTTP.
  // state: async node => (await node.http(8080, '/state')).body.json(),
  // Calls from outside, each begun by a choice.
  // clients: { put: async nodes => { await nodes['${nodes[0]}']!.http(8080, '/', { method: 'POST', body: 'x' }) } },
  properties: {
    // What must hold in every state. That no node crashes and none spins is checked in any case.
    everyNodeIsUp: always(({ nodes }) => nodes.every(({ alive }) => alive)),
  },
  // How many of each one execution may have.
  faults: { drop: 0, duplicate: 0, reset: 0, crash: 0, partition: 0 },
})
`
