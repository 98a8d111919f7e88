import { execa } from 'execa'
import { UsageError } from '../checker/errors.ts'

/**
 * Runs git in a directory; gives what it printed.
 *
 * @throws UsageError with what git said, where it failed
 */
export const git = async (directory: string, ...args: readonly string[]): Promise<string> => {
  const { failed, stdout, stderr, shortMessage } = await execa('git', [...args], {
    cwd: directory,
    reject: false,
    // Nothing that the caller's own git was told is about this repository.
    env: { GIT_DIR: undefined, GIT_WORK_TREE: undefined, GIT_INDEX_FILE: undefined, LC_ALL: 'C' },
  })
  if (failed) throw new UsageError(`git ${args.join(' ')}: ${lastLine(stderr) || shortMessage}`)
  return stdout
}

const lastLine = (text: string) => text.trim().split('\n').at(-1)!

/** The commit that a directory is at, with `-dirty` where files of it differ; null outside of a repository. */
export const commitOf = async (directory: string): Promise<string | null> => {
  try {
    const commit = await git(directory, 'rev-parse', 'HEAD')
    const changes = await git(directory, 'status', '--porcelain', '--untracked-files=no', '.')
    return changes === '' ? commit : `${commit}-dirty`
  } catch {
    return null
  }
}
