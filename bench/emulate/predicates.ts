/**
 * WiDS Checker's table: for systems of the corpus, each with one of its bugs, how long a recorded run of ten minutes takes, its
 * replay, its replay with predicates, and their verification without executing; and which bugs the predicates find in the recording.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { bugs } from '../corpus/rows.ts'
import { runCommand } from './run-command.ts'

const root = join(import.meta.dirname, '../../..')
const config = join(import.meta.dirname, 'live.config.js')
const directory = mkdtempSync(join(tmpdir(), 'lastnail-predicates-'))
const systems = ['paxos', 'chord', 'lockserver', 'store']

/** Non-empty lines of the properties of a configuration, and of the functions at its top that they use. */
const linesOfPredicates = (system: string): number => {
  const path = join(root, 'examples/corpus', system, 'lastnail.config.ts')
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  const declared = new Map<string, ts.Node>()
  for (const statement of file.statements)
    if (ts.isVariableStatement(statement))
      for (const { name, initializer } of statement.declarationList.declarations)
        if (initializer && ts.isArrowFunction(initializer)) declared.set(name.getText(), statement)
  const used = new Set<ts.Node>()
  const use = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      const found = declared.get(node.text)
      if (found && !used.has(found)) {
        used.add(found)
        use(found)
      }
    }
    ts.forEachChild(node, use)
  }
  const findProperties = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && node.name.getText() === 'properties') {
      used.add(node)
      use(node)
    } else ts.forEachChild(node, findProperties)
  }
  findProperties(file)
  const text = [...used].map(node => node.getText()).join('\n')
  return text.split('\n').filter(line => line.trim() !== '').length
}

const shown = (seconds: number) => seconds.toFixed(1)

interface Verified {
  readonly violations: readonly { readonly property: string | null; readonly atMs: number }[]
  readonly properties: readonly {
    readonly name: string
    readonly holds: boolean | null
    readonly outages: readonly { readonly fromMs: number }[]
  }[]
}

/**
 * What the predicates say of a recorded run: the first violation; or for how long a property has not held at its end, which proves
 * nothing, because a program may just have been killed.
 */
const saidOf = ({ violations, properties }: Verified, virtualSeconds: number): string => {
  const [first] = violations
  if (first) return `${first.property ?? 'a crash'}, after ${shown(first.atMs / 1000)} s`
  const open = properties.find(({ holds }) => holds === false)
  return open ? `– (${open.name} open for ${shown(virtualSeconds - open.outages.at(-1)!.fromMs / 1000)} s)` : '–'
}

/** Runs with other seeds until a property is violated. */
const seedsMax = 3
/** Restarts are no faults that the lock server's clients can bear. */
const withoutChurn = ['lockserver']

const measure = (system: string, bug: string): string => {
  const of = (predicates: string) => ({
    SYSTEM: system,
    BUG: bug,
    PREDICATES: predicates,
    ...(withoutChurn.includes(system) && { CHURN: '0' }),
  })
  for (let seed = 1; ; seed++) {
    const recorded = runCommand(['emulate', config, '--seed', String(seed), '--out', directory], of('none'))
    const trace = String(recorded.result.trace)
    const verified = runCommand(['verify', trace], of('all'))
    const said = verified.result as unknown as Verified
    if (said.violations.length === 0 && bug !== '' && seed < seedsMax) continue
    const found = saidOf(said, recorded.result.virtualSeconds as number)
    const replayed = runCommand(['replay', trace], of('none'))
    const evaluated = runCommand(['replay', trace], of('all'))
    const times = [recorded, replayed, evaluated, verified].map(({ seconds }) => shown(seconds))
    const share = (verified.seconds / recorded.seconds).toFixed(2)
    const { steps } = recorded.result
    return `| ${[bug || `${system}, correct`, linesOfPredicates(system), seed, found, steps, ...times, share].join(' | ')} |`
  }
}

try {
  const wanted = process.argv.slice(2)
  console.log('| bug | lines | seed | found | steps | run | replay | with predicates | verify | verify / run |')
  console.log('| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |')
  for (const system of systems.filter(name => wanted.length === 0 || wanted.includes(name)))
    for (const bug of ['', ...bugs.filter(each => each.system === `corpus/${system}`).map(({ id }) => id)])
      console.log(measure(system, bug))
} finally {
  rmSync(directory, { recursive: true, force: true })
}
