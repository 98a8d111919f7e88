/**
 * What a power failure leaves of real stores: whether words that were acknowledged are lost, and whether it can still be read.
 * `node dist/bench/power.js [--seconds 30] [--model posix] [NAME…]` checks both for each store whose name has one of these words.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkConfig } from '../cli/check/check.ts'
import { configOf } from '../cli/config/load-config.ts'
import type { DiskModel } from '../harness/config/config.ts'
import { packageRoot } from './corpus/package-root.ts'
import { properties, type Store, stores, systemOf } from './power/stores.ts'

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '30' }, model: { type: 'string', default: 'ordered' } },
  allowPositionals: true,
})

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

type Property = keyof typeof properties

const found = async (store: Store, property: Property): Promise<string> => {
  const out = mkdtempSync(join(tmpdir(), 'lastnail-power-'))
  try {
    const system = systemOf(store, packageRoot, { model: values.model as DiskModel, property })
    const { verdict } = await checkConfig(configOf(system), { milliseconds: 1000 * Number(values.seconds), out })
    const { message, executions, schedule, discovery } = verdict
    if (verdict.verdict === 'held') return `held in ${executions}`
    if (verdict.verdict !== 'violated') return `${verdict.verdict} in ${executions}: ${message}`
    const power = schedule?.filter(label => label.startsWith('power ')).join(', ')
    return `violated after ${discovery?.execution}, ${discovery?.seconds} s: ${verdict.property ?? message}, ${power}`
  } catch (error) {
    return `failed: ${(error as Error).message}`
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

const isAsked = ({ name }: Store) => positionals.length === 0 || positionals.some(words => name.includes(words))

for (const store of stores.filter(isAsked)) {
  const missing = store.needs.find(program => !has(program))
  console.log(`${store.name}: promises: ${store.promises}${missing ? `; not here: ${missing}` : ''}`)
  if (missing) continue
  for (const property of Object.keys(properties) as Property[])
    console.log(`  ${property}: ${await found(store, property)}`)
}
