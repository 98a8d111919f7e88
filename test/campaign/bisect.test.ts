import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { bisect } from '../../campaign/bisect.ts'
import { start } from '../cli/lastnail.ts'
import { configuration, Service } from './service.ts'

let service: Service
beforeEach(() => {
  service = new Service()
})
afterEach(() => {
  vi.unstubAllEnvs()
  service.remove()
})

/** Commits of which each changes a file; the first is good, and all from the n-th on are bad. */
const commits = async (count: number) => {
  const all: string[] = []
  for (let ordinal = 0; ordinal < count; ordinal++)
    all.push(await service.commit(`commit ${ordinal}`, { 'count.txt': String(ordinal) }))
  return all
}

const find = (all: readonly string[], firstBad: number) =>
  bisect(service.directory, {
    good: all[0]!,
    bad: all.at(-1)!,
    signal: new AbortController().signal,
    judge: async (_, commit) => ({ is: all.indexOf(commit) >= firstBad ? 'bad' : 'good', why: 'it is so' }),
  })

test('another repository that a hook of git names in the environment is left alone', async () => {
  const all = await commits(6)
  const other = new Service()
  try {
    await other.commit('other')
    const head = await other.git('rev-parse', 'HEAD')
    vi.stubEnv('GIT_DIR', join(other.directory, '.git'))
    vi.stubEnv('GIT_WORK_TREE', other.directory)
    const found = await find(all, 3)
    vi.unstubAllEnvs()
    expect(found.first).toBe(all[3])
    expect(await other.git('rev-parse', 'HEAD')).toBe(head)
    await expect(other.git('bisect', 'log')).rejects.toThrow(/not bisecting/)
  } finally {
    other.remove()
  }
})

const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}`)

test('a command to build that is under way ends with the bisection, and so do the programs that it runs', {
  timeout: 60_000,
}, async () => {
  const all = await commits(2)
  const running = join(service.directory, 'running')
  const build = `sh -c 'echo $$ > ${running}; exec sleep 50'; true`
  const bisecting = start(service.directory, ['bisect', service.keep(), '--good', all[0]!, '--build', build])
  await expect.poll(() => existsSync(running) && readFileSync(running, 'utf8') !== '', { timeout: 20_000 }).toBe(true)
  const pid = Number(readFileSync(running, 'utf8'))
  expect(isRunning(pid)).toBe(true)
  bisecting.kill('SIGTERM')
  const { exitCode, stderr } = await bisecting
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: 'lastnail: interrupted' })
  await expect.poll(() => isRunning(pid), { timeout: 5_000 }).toBe(false)
  expect(await service.git('worktree', 'list')).not.toContain('\n')
})

test('a commit on which the program is killed or the service does not start is not judged, and says why', {
  timeout: 60_000,
}, async () => {
  const all = await commits(2)
  const judged = async (config: string) => {
    await service.commit('another configuration', { 'lastnail.config.ts': config })
    const { exitCode, stderr } = await start(service.directory, ['bisect', service.keep(), '--good', all[0]!])
    expect(exitCode).toBe(64)
    return String(stderr).split('\n').at(-1)
  }
  expect(await judged("process.kill(process.pid, 'SIGKILL')")).toBe(
    'lastnail: HEAD cannot be judged: it ended by SIGKILL',
  )
  expect(await judged(configuration().replace("'store.js'", "'-e', 'console.log(1); process.exit(3)'"))).toMatch(
    /^lastnail: HEAD cannot be judged: the service does not start: .*3/,
  )
})
