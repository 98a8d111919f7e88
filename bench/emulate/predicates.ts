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

try {
  const wanted = process.argv.slice(2)
  const rows = bugs.filter(({ id, system }) =>
    wanted.length > 0 ? wanted.includes(id) : systems.includes(system.replace('corpus/', '')),
  )
  console.log('| bug | lines | found | run | replay | with predicates | verify | verify / run |')
  console.log('| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |')
  for (const { id, system, property } of rows) {
    const name = system.replace('corpus/', '')
    const of = (predicates: string) => ({ SYSTEM: name, BUG: id, PREDICATES: predicates })
    const recorded = runCommand(['emulate', config, '--out', directory], of('none'))
    const trace = String(recorded.result.trace)
    const replayed = runCommand(['replay', trace], of('none'))
    const evaluated = runCommand(['replay', trace], of('all'))
    const verified = runCommand(['verify', trace], of('all'))
    const found = JSON.stringify(verified.result).includes(`"${property}"`)
    const times = [recorded, replayed, evaluated, verified].map(({ seconds }) => shown(seconds))
    const share = (verified.seconds / recorded.seconds).toFixed(3)
    console.log(`| ${[id, linesOfPredicates(name), found ? property : 'no', ...times, share].join(' | ')} |`)
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
