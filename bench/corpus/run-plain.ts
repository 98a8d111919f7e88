/** Tests one configuration plainly, and prints the result as JSON: `run-plain.js CONFIG MILLISECONDS [PROPERTY]`. */
import { loadConfig } from '../../cli/config/load-config.ts'
import { resolveSystem } from '../../harness/config/config.ts'
import { testPlainly } from './plain.ts'

const [path = '', milliseconds, property] = process.argv.slice(2)
const { definition, directory } = await loadConfig(path)
const system = resolveSystem(definition, { directory })
const all = Object.entries(system.properties)
const properties = Object.fromEntries(all.filter(([name]) => property === undefined || name === property))
console.log(
  JSON.stringify(await testPlainly({ ...system, properties }, { milliseconds: Number(milliseconds), seed: 1 })),
)
process.exit()
