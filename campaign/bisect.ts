import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { UsageError } from '../checker/system/errors.ts'
import { NotWritten } from '../checker/system/written.ts'
import { git, noRepository } from './git.ts'

/** The judgement of a commit. `skip`: it cannot be judged. */
export interface Judgement {
  readonly is: 'good' | 'bad' | 'skip'
  /** One line. */
  readonly why: string
}

export interface TriedCommit extends Judgement {
  readonly commit: string
}

export interface Bisected {
  /** The first bad commit; null if skipped commits leave more than one candidate. */
  readonly first: string | null
  /** The commits of which one is the first bad one. */
  readonly candidates: readonly string[]
  /** In the order in which they were judged. */
  readonly tried: readonly TriedCommit[]
}

export interface BisectOptions {
  readonly good: string
  readonly bad: string
  readonly signal: AbortSignal
  /** Judges the commit that is checked out in a directory. */
  readonly judge: (directory: string, commit: string) => Promise<Judgement>
  readonly onTried?: ((tried: TriedCommit) => void) | undefined
}

/**
 * Finds the first bad commit with `git bisect`, in a worktree of its own, so that the caller's is not touched.
 *
 * @param repository any directory in it
 *
 * @throws UsageError if a revision does not exist, `good` is not good, or `bad` is not bad
 */
export const bisect = async (repository: string, options: BisectOptions): Promise<Bisected> => {
  const [good, bad] = await Promise.all([commitOf(repository, options.good), commitOf(repository, options.bad)])
  const directory = makeDirectory()
  const worktree = join(directory, 'worktree')
  try {
    await git(repository, 'worktree', 'add', '--quiet', '--detach', worktree, bad)
    return await new Search(worktree, options).between(good, bad)
  } finally {
    await git(repository, 'worktree', 'remove', '--force', worktree).catch(() => undefined)
    rmSync(directory, { recursive: true, force: true })
    await git(repository, 'worktree', 'prune').catch(() => undefined)
  }
}

/** @throws NotWritten */
const makeDirectory = (): string => {
  try {
    return mkdtempSync(join(tmpdir(), 'lastnail-bisect-'))
  } catch (cause) {
    throw new NotWritten('a worktree to', tmpdir(), cause)
  }
}

const commitOf = async (repository: string, revision: string): Promise<string> => {
  try {
    return await git(repository, 'rev-parse', '--verify', '--quiet', `${revision}^{commit}`)
  } catch (cause) {
    throw new UsageError(`expected a revision of the repository of ${repository}, found "${revision}"`, { cause })
  }
}

class Search {
  readonly #worktree: string
  readonly #options: BisectOptions
  readonly #tried: TriedCommit[] = []

  constructor(worktree: string, options: BisectOptions) {
    this.#worktree = worktree
    this.#options = options
  }

  async between(good: string, bad: string): Promise<Bisected> {
    await this.#expect(bad, 'bad')
    await git(this.#worktree, 'reset', '--quiet', '--hard', good)
    await this.#expect(good, 'good')
    let said = await this.#bisect('start', bad, good)
    for (;;) {
      const [, first] = /^([0-9a-f]{40,}) is the first bad commit$/m.exec(said) ?? []
      if (first !== undefined) return { first, candidates: [first], tried: this.#tried }
      if (said.includes("only 'skip'ped commits left"))
        return { first: null, candidates: candidatesIn(said), tried: this.#tried }
      const commit = await git(this.#worktree, 'rev-parse', 'HEAD')
      const { is } = await this.#judge(commit)
      await this.#clean()
      said = await this.#bisect(is)
    }
  }

  async #expect(commit: string, expected: 'good' | 'bad'): Promise<void> {
    const { is, why } = await this.#judge(commit)
    const revision = this.#options[expected]
    if (is === 'skip') throw new UsageError(`${revision} cannot be judged: ${why}`)
    if (is !== expected) throw new UsageError(`expected ${revision} to be ${expected}, and it is ${is}: ${why}`)
    await this.#clean()
  }

  /**
   * Restores files that a build changed, because they would keep git from checking out other commits. Ignored files
   * stay.
   */
  async #clean(): Promise<void> {
    await git(this.#worktree, 'reset', '--quiet', '--hard')
    await git(this.#worktree, 'clean', '--quiet', '-fd')
  }

  async #judge(commit: string): Promise<TriedCommit> {
    this.#options.signal.throwIfAborted()
    const tried = { commit, ...(await this.#options.judge(this.#worktree, commit)) }
    this.#options.signal.throwIfAborted()
    this.#tried.push(tried)
    this.#options.onTried?.(tried)
    return tried
  }

  /** git exits with 2 if only skipped commits are left. */
  async #bisect(...args: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await execa('git', ['bisect', ...args], {
      cwd: this.#worktree,
      reject: false,
      env: { ...noRepository, LC_ALL: 'C' },
    })
    const said = `${stdout}\n${stderr}`
    if (exitCode === 0 || said.includes("only 'skip'ped commits left")) return said
    throw new UsageError(`git bisect ${args.join(' ')}: ${said.trim().split('\n').at(-1)}`)
  }
}

const candidatesIn = (said: string): string[] => said.match(/^[0-9a-f]{40,}$/gm) ?? []

/** The path that a present file had at a commit: the same one, or the one from which git finds that it was renamed. */
export const pathAtCommit = async (repository: string, path: string, commit: string): Promise<string | undefined> => {
  const files = (await git(repository, 'ls-tree', '-r', '-z', '--name-only', commit)).split('\0')
  if (files.includes(path)) return path
  const changes = (await git(repository, 'diff', '--name-status', '--find-renames', '-z', commit, 'HEAD')).split('\0')
  for (let at = 0; at < changes.length; ) {
    const isRename = /^[RC]\d+$/.test(changes[at]!)
    if (isRename && changes[at + 2] === path) return changes[at + 1]
    at += isRename ? 3 : 2
  }
  return undefined
}
