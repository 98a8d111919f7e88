import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'

export const root = join(import.meta.dirname, '../..')

/** A fenced block of a page: its first line says its language, and the file that it is. */
export interface Block {
  readonly language: string
  readonly file: string | undefined
  readonly text: string
}

export const blocksOf = (page: string): Block[] =>
  [...page.matchAll(/^```(\S+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(([, language, file, text]) => ({
    language: language!,
    file,
    text: text!,
  }))

/** The page without them. */
export const proseOf = (page: string): string => page.replaceAll(/^```[\s\S]*?^```$/gm, '')

export const read = (page: string): string => readFileSync(join(root, page), 'utf8')

/** A directory in which a reader of the page would work: the package is installed there, as are examples and vitest. */
export const readersDirectory = () => {
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-docs-'))
  mkdirSync(join(directory, 'node_modules/.bin'), { recursive: true })
  symlinkSync(root, join(directory, 'node_modules/lastnail'))
  symlinkSync(join(root, 'node_modules/vitest'), join(directory, 'node_modules/vitest'))
  symlinkSync(join(root, 'bin/lastnail.js'), join(directory, 'node_modules/.bin/lastnail'))
  symlinkSync(join(root, 'node_modules/vitest/vitest.mjs'), join(directory, 'node_modules/.bin/vitest'))
  symlinkSync(join(root, 'examples'), join(directory, 'examples'))
  writeFileSync(join(directory, 'package.json'), '{ "private": true }')
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

export const writeBlock = (directory: string, { file, text }: Block): void => {
  const path = join(directory, file!)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** A command of a console, with what it prints. */
export interface Command {
  readonly line: string
  /** `…` stands for anything, alone on a line for any number of lines. */
  readonly expected: string
}

export const commandsOf = ({ text }: Block): Command[] =>
  text
    .split(/^\$ /m)
    .slice(1)
    .map(each => {
      const [line, ...expected] = each.split('\n')
      return { line: line!, expected: expected.join('\n').trimEnd() }
    })

/** What `npx` comes to here, without npm, whose start takes twice as long as most commands. */
const withoutNpm = 'npx() { "node_modules/.bin/$@"; }'

/** Runs commands as one would type them, and gives what each printed. */
export const run = async (directory: string, commands: readonly Command[], hasNpm = false): Promise<string[]> => {
  const end = '--- end of a command ---'
  const script = commands.map(({ line }) => `(exit $code); ${line}\ncode=$?; echo "${end}"`).join('\n')
  const { all } = await execa('bash', ['-c', `${hasNpm ? '' : withoutNpm}\ncode=0\n${script}`], {
    ...{ cwd: directory, all: true, reject: false, env: { NO_COLOR: '1', FORCE_COLOR: undefined, CI: undefined } },
  })
  // npm says on some machines that it knows an option no longer, and a check on a busy one that it moved a worker.
  const shown = all.replaceAll(/^(npm warn|lastnail: something else uses CPU) .*\n/gm, '')
  return `${shown}\n`.split(`${end}\n`).map(output => output.trimEnd())
}

/** What matches an expected output. */
export const patternOf = (expected: string): RegExp => {
  const lines = expected.split('\n').map(line => {
    if (line === '…') return '(?:.*\\n)*?'
    const escaped = line.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*')
    return `${escaped}\\n`
  })
  return new RegExp(`^${lines.join('')}$`)
}
