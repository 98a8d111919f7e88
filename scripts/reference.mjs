// Writes the pages that follow from the code: docs/fields.md from the types of a configuration, docs/options.md from the help
// of the commands, docs/kinds.md from the table of what can happen. `npm run reference`; a test says where they are not current.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')

/** Types of a configuration in the order of the page, with what each is for. */
const interfaces = [
  ['SystemDefinition', 'What `defineSystem` takes.'],
  ['Clocks', '`clocks`, where it is more than how far they may be apart.'],
  ['NodeDefinition', 'A node, in `nodes`.'],
  ['Limits', '`limits`, of a node or of all.'],
  ['ContainerDefinition', '`container` of a node that has an image.'],
  ['RepeatedClient', 'A client, in `clients`, that may be called more often than once; else it is its function alone.'],
  ['CallContext', 'What a client gets beside the nodes.'],
  ['NodeHandle', 'A node, as clients and `state` get it.'],
  ['GlobalState', 'What properties get.'],
  ['NodeView', 'A node in it.'],
  ['ClientCall', 'A call in it.'],
  ['SomeFaults', 'A budget of `faults`, where it is more than a number.'],
  ['SomeResets', 'That of `faults.reset`, which has this besides.'],
  ['SomeCuts', 'That of `faults.partition`, which has these besides.'],
  ['EmulationDefinition', '`emulation`.'],
  ['ClockSetting', 'A clock of `emulation.clocks`.'],
  ['LinkEvent', 'A change in `emulation.links`.'],
  ['GeneratedTopology', '`emulation.topology`, where it is generated.'],
]

const oneLine = text => text.replaceAll(/\s+/g, ' ').trim()
/** A line of text in a list, whose stars and brackets mean themselves. */
const item = (term, about) => `- \`${oneLine(term)}\`${about === '' ? '' : `: ${about}`}`

/** @param text of harness/config/definition.ts */
export const fieldsPage = text => {
  const file = ts.createSourceFile('definition.ts', text, ts.ScriptTarget.Latest, true)
  const declared = new Map()
  for (const statement of file.statements)
    if (ts.isInterfaceDeclaration(statement)) declared.set(statement.name.text, statement)
  const commentOf = node =>
    oneLine(
      ts
        .getJSDocCommentsAndTags(node)
        .map(({ comment }) => comment ?? '')
        .join(' '),
    )
  const lineOf = member => {
    const name = member.name.getText(file)
    const optional = member.questionToken ? '?' : ''
    const type = ts.isMethodSignature(member)
      ? `(${member.parameters.map(each => each.getText(file)).join(', ')}): ${member.type.getText(file)}`
      : `: ${member.type
          .getText(file)
          .replace(/^\|\s*/, '')
          .replace(/ \| undefined$/, '')}`
    return item(`${name}${optional}${type}`, commentOf(member))
  }
  const sections = interfaces.map(([name, purpose]) => {
    const declaration = declared.get(name)
    if (declaration === undefined) throw new Error(`there is no interface ${name} any more`)
    return [`## ${name}`, '', purpose, '', ...declaration.members.map(lineOf), ''].join('\n')
  })
  return `# Every field of a configuration\n\nWritten from the types by \`npm run reference\`. What they are for: [the configuration](configuration.md).\n\n${sections.join('\n')}`
}

/** @param program the command, as commander knows it */
export const optionsPage = program => {
  const help = program.createHelp()
  const sections = [['lastnail', program], ...commandsOf(program, '')].map(([path, command]) => {
    const args = help.visibleArguments(command)
    const options = help.visibleOptions(command).filter(({ long }) => long !== '--help')
    return [
      `## ${path}`,
      '',
      `${command.description().replace(/\.$/, '')}.`,
      '',
      item(
        `${path} ${help
          .commandUsage(command)
          .split(' ')
          .slice(command.parent ? path.split(' ').length : 1)
          .join(' ')}`,
        '',
      ),
      ...args.filter(each => each.description !== '').map(each => item(each.name(), help.argumentDescription(each))),
      ...options.map(option => item(option.flags, help.optionDescription(option))),
      '',
    ].join('\n')
  })
  return `# Every command, with its options\n\nWritten from their help by \`npm run reference\`. What they are for: [commands](commands.md).\n\n${sections.join('\n')}`
}

const commandsOf = (command, path) =>
  command.commands.flatMap(each => {
    const name = path === '' ? `lastnail ${each.name()}` : `${path} ${each.name()}`
    return each.commands.length > 0 ? commandsOf(each, name) : [[name, each]]
  })

const roles = {
  ordinary: 'any system does it',
  deviation: 'any network may do it; it has a budget',
  fault: 'a fault, which has a budget in `faults`',
  repair: 'it ends a fault',
  change: 'no search draws it',
}

/**
 * @param kinds the table of kinds
 *
 * @param happenings the table of what a plan or a person makes happen
 */
export const kindsPage = (kinds, happenings) => {
  const words = texts => texts.map(text => `\`${text}\``).join(', ')
  const linesOf = kind => {
    const rows = Object.values(happenings).filter(row => row.kind === kind)
    return [
      words(rows.flatMap(({ script }) => script ?? [])),
      words(rows.flatMap(({ verbs = {} }) => Object.keys(verbs))),
    ]
  }
  const rows = Object.entries(kinds).map(
    ([kind, { happens, role }]) =>
      `| \`${kind}\` | ${[happens, kind === 'preempt' ? 'a fault, whose budget is `threads`' : roles[role], ...linesOf(kind)].join(' | ')} |`,
  )
  const head =
    '| kind | what happens | what it is | in a churn script | asked of a node by `control` |\n| --- | --- | --- | --- | --- |'
  const about =
    'A line of a churn script begins with its time: `90s leave n1 kill`. Nodes leave by `stop`, `kill` or `cut`. `set`, `link` and `reset` of `control`: see [emulation](emulation.md#control).'
  return `# Every kind of step\n\nWritten from the table in \`checker/happening/\` by \`npm run reference\`. The report and the debugger show and filter steps by kind.\n\n${head}\n${rows.join('\n')}\n\n${about}\n`
}

/**
 * @param used fields of a service that are used, and for what
 *
 * @param ignored fields that are not, and why
 *
 * @param refused fields with which no service is taken, and why
 */
export const composePage = (used, ignored, refused) => {
  const rowsOf = (fields, what) =>
    Object.entries(fields).map(([field, why]) => [field, `| \`${field}\` | ${what} | ${why} |`])
  const rows = [...rowsOf(used, 'used'), ...rowsOf(ignored, 'ignored, with a note'), ...rowsOf(refused, 'refused')]
  const sorted = rows.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
  const head = '| field | what becomes of it | for what, or why |\n| --- | --- | --- |'
  return `# Every field of a service in a compose file\n\nWritten from the table in \`docker/compose/fields.ts\` by \`npm run reference\`; a test holds it against the fields of the [Compose specification](https://github.com/compose-spec/compose-spec). How compose files are used: [containers](containers.md).\n\n${head}\n${sorted.join('\n')}\n`
}

/** As the formatter of this repository would have it. */
export const formatted = (path, text) =>
  execFileSync(join(root, 'node_modules/.bin/biome'), ['format', `--stdin-file-path=${path}`], {
    cwd: root,
    input: text,
    encoding: 'utf8',
  })

export const definitionPath = join(root, 'harness/config/definition.ts')

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { program } = await import(pathToFileURL(join(root, 'dist/cli/main.js')).href)
  const { kinds } = await import(pathToFileURL(join(root, 'dist/checker/happening/kinds.js')).href)
  const { happenings } = await import(pathToFileURL(join(root, 'dist/checker/happening/happenings.js')).href)
  const { ignoredFields, refusedFields, usedFields } = await import(
    pathToFileURL(join(root, 'dist/docker/compose/fields.js')).href
  )
  const pages = {
    'docs/compose-fields.md': composePage(usedFields, ignoredFields, refusedFields),
    'docs/fields.md': fieldsPage(readFileSync(definitionPath, 'utf8')),
    'docs/options.md': optionsPage(program(() => {})),
    'docs/kinds.md': kindsPage(kinds, happenings),
  }
  for (const [path, text] of Object.entries(pages)) writeFileSync(join(root, path), formatted(path, text))
}
