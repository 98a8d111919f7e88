import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
// @ts-expect-error: plain JavaScript without declarations, as a service is
import { OnePaxos } from '../../examples/corpus/onepaxos/onepaxos.js'
import { loopback, start } from '../examples/service.ts'
import { assertAgreement, type Member as Learner, type Place } from './agreement.ts'

interface Member {
  roles: { epoch: number; leader: string; acceptor: string }
  chosen: string | null
}

const program = fileURLToPath(new URL('../../examples/corpus/onepaxos/node.js', import.meta.url))

const disk = () => {
  const directory = mkdtempSync(join(tmpdir(), 'onepaxos-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const hasChosen = ({ chosen }: Member) => chosen !== null

const run = (members: string[], present: readonly number[]) =>
  present.map(i => start<Member>([program, members[i]!, disk(), `v${i}`, ...members]))

test('all members choose the same value', async () => {
  const members = [51, 52, 53].map(host => `${loopback(host)}:7000`)
  const chosen = (await Promise.all(run(members, [0, 1, 2]).map(node => node.state(hasChosen)))).map(
    state => state.chosen,
  )
  expect(new Set(chosen).size).toBe(1)
})

test('where the leader is absent, the third member leads', async () => {
  const members = [54, 55, 56].map(host => `${loopback(host)}:7000`)
  const states = await Promise.all(run(members, [1, 2]).map(node => node.state(hasChosen)))
  expect(states.map(state => state.chosen)).toEqual(['v2', 'v2'])
  expect(states[1]!.roles).toMatchObject({ leader: members[2], acceptor: members[1] })
})

/** A member that would like its own name. */
const member = ({ self, members, disk, send }: Place): Learner & { suspect(): void } =>
  new OnePaxos({
    self,
    members,
    value: self,
    send,
    save: (key: string, state: object) => disk.set(key, JSON.stringify(state)),
    saved: (key: string) => disk.has(key) && JSON.parse(disk.get(key)!),
  })

test('no two values are chosen, whatever is lost, late, doubled or restarted', () => {
  assertAgreement(member, each => each.suspect(), { runs: 300, steps: 200 })
})
