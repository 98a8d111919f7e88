import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { always } from '../../checker/system/property.ts'
import { defineSystem, type GlobalState, jsonLines, type SystemDefinition } from '../../harness/config/config.ts'

/** A program with a race between its threads, and what has to be there to run it. */
export interface Program {
  readonly file: string
  readonly needs: 'gcc' | 'python3' | 'go' | 'javac' | 'rustc' | 'node'
  readonly race: string
  /** Which of a file's programs it is. */
  readonly name?: string
  /** Whether there is no mended twin, because the program is another's. */
  readonly isAlone?: true
}

const sct = (name: string, race: string): Program => ({ file: 'Sct.java', needs: 'javac', race, name, isAlone: true })

/** Programs of SCTBench, rewritten for the JVM after their descriptions. */
const sctBench = [
  sct('account', 'the check comes after both transfers'),
  sct('deadlock', 'two locks are taken in two orders'),
  sct('lazy', 'the check comes after both additions'),
  sct('reorder', 'two fields are checked in between'),
  sct('twostage', 'data is read between its two stages'),
  sct('wronglock', 'one variable is under two locks'),
  sct('stack', 'a stack is popped too often'),
  sct('tokenring', 'a token goes round in another order'),
  sct('sync', 'a wait of which nobody tells'),
  sct('bluetooth', 'a driver stops while a request begins'),
]

export const programs: readonly Program[] = [
  { file: 'update.c', needs: 'gcc', race: 'a number in a file is read and written' },
  { file: 'orders.c', needs: 'gcc', race: 'two locks are taken in two orders' },
  { file: 'signal.c', needs: 'gcc', race: 'a condition is signalled before the wait' },
  { file: 'create.c', needs: 'gcc', race: 'a file is made if it is not there' },
  { file: 'counter.c', needs: 'gcc', race: 'a variable is counted up' },
  { file: 'withdraw.c', needs: 'gcc', race: 'a balance is looked at under one lock, and changed under the next' },
  { file: 'update.py', needs: 'python3', race: 'a variable is read and written' },
  { file: 'tasks.py', needs: 'python3', race: 'a task is taken if there is one' },
  { file: 'processes.py', needs: 'python3', race: 'two processes read and write a file' },
  { file: 'update.go', needs: 'go', race: 'a variable is read and written' },
  { file: 'close.go', needs: 'go', race: 'a channel is closed if it is open' },
  { file: 'Notify.java', needs: 'javac', race: 'a notification comes before the wait' },
  { file: 'Lazy.java', needs: 'javac', race: 'a log is opened if it is not open' },
  { file: 'dropped.rs', needs: 'rustc', race: 'a receiver is dropped before the last message' },
  { file: 'once.rs', needs: 'rustc', race: 'a value is made if no flag says that it is' },
  { file: 'update.cjs', needs: 'node', race: 'a variable is read and written' },
  ...sctBench,
]

/** Builds a program and returns its command, which `wrong` or `mended` ends. */
export const build = (file: string, sources: string, directory: string): readonly string[] => {
  const source = join(sources, file)
  const program = join(directory, 'program')
  mkdirSync(directory, { recursive: true })
  const [name, kind] = file.split('.') as [string, string]
  switch (kind) {
    case 'c':
      execFileSync('gcc', ['-O1', '-w', '-o', program, source, '-lpthread'])
      return [program]
    case 'go':
      execFileSync('go', ['build', '-o', program, source])
      return [program]
    case 'rs':
      execFileSync('rustc', ['-O', '-o', program, source], { stdio: 'ignore' })
      return [program]
    case 'java':
      execFileSync('javac', ['-d', directory, source])
      return ['java', '-Xshare:auto', '-cp', directory, name]
    default:
      copyFileSync(source, join(directory, file))
      return [kind === 'py' ? 'python3' : 'node', join(directory, file)]
  }
}

/** Holds unless a race has changed what both threads came to. */
export const right = always<GlobalState>(
  state => (state.node('store').state as { readonly right?: boolean } | undefined)?.right !== false,
)

export const systemOf = (command: readonly string[], version: 'wrong' | 'mended', threads: number): SystemDefinition =>
  defineSystem({
    name: 'threads',
    nodes: { store: { command: [...command, version], env: { GOMAXPROCS: '2', PYTHONDONTWRITEBYTECODE: '1' } } },
    state: jsonLines<{ readonly right: boolean }>(),
    clients: { ann: { times: 2, run: async ({ store }) => String(await store!.udp(7000, 'go')) } },
    threads,
    properties: { right },
  })
