import { UsageError } from '../checker/system/errors.ts'

/** Unsets what a hook of git sets: it would apply to every repository, and git would change the caller's. */
export const noRepository = { GIT_DIR: undefined, GIT_WORK_TREE: undefined, GIT_INDEX_FILE: undefined } as const

/**
 * Runs git in a directory and returns its output.
 *
 * @throws UsageError with git's message if it fails
 */
export const git = async (directory: string, ...args: readonly string[]): Promise<string> => {
  // It has a hundred files, and most commands never ask git.
  const { execa } = await import('execa')
  const { failed, stdout, stderr, shortMessage } = await execa('git', [...args], {
    cwd: directory,
    reject: false,
    env: { ...noRepository, LC_ALL: 'C' },
  })
  if (failed) throw new UsageError(`git ${args.join(' ')}: ${lastLine(stderr) || shortMessage}`)
  return stdout
}

const lastLine = (text: string) => text.trim().split('\n').at(-1)!

/** The commit checked out in a directory, with `-dirty` if files there differ; null outside of a repository. */
export const commitOf = async (directory: string): Promise<string | null> => {
  try {
    const commit = await git(directory, 'rev-parse', 'HEAD')
    const changes = await git(directory, 'status', '--porcelain', '--untracked-files=no', '.')
    return changes === '' ? commit : `${commit}-dirty`
  } catch {
    return null
  }
}
