import { onTestFinished } from 'vitest'
import { hasCriu as hasAnyCriu } from '../../../harness/checkpoint/criu.ts'
import { realUser } from '../../../harness/files/run-root.ts'

/** Whether this machine can write processes to files. */
export const hasCriu = (): boolean => realUser() === 0 && hasAnyCriu()

/** For as long as the test runs, another `criu` is found, or none. */
export const withPath = (path: string): void => {
  const { PATH, XDG_CACHE_HOME } = process.env
  process.env.PATH = path
  process.env.XDG_CACHE_HOME = '/nonexistent'
  onTestFinished(() => {
    process.env.PATH = PATH
    if (XDG_CACHE_HOME === undefined) delete process.env.XDG_CACHE_HOME
    else process.env.XDG_CACHE_HOME = XDG_CACHE_HOME
  })
}
