import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
// @ts-expect-error: plain JavaScript without declarations, as a service is
import { Paxos } from '../../examples/corpus/paxos/paxos.js'
import { loopback, start } from '../examples/service.ts'
import { assertAgreement, type Member as Learner, type Place } from './agreement.ts'

interface Member {
  promised: number
  accepted: { round: number; value: string } | null
  chosen: string | null
}

const program = fileURLToPath(new URL('../../examples/corpus/paxos/node.js', import.meta.url))

const disk = () => {
  const directory = mkdtempSync(join(tmpdir(), 'paxos-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const member = ({ self, members, disk, send }: Place): Learner & { propose(value: string): void } => {
  const saved = disk.get('state')
  return new Paxos({
    self,
    members,
    send,
    save: (state: object) => disk.set('state', JSON.stringify(state)),
    saved: saved && JSON.parse(saved),
  })
}

const hasChosen = ({ chosen }: Member) => chosen !== null

test('all members choose the same value, one that a member proposed', async () => {
  const members = [41, 42, 43].map(host => `${loopback(host)}:7000`)
  const nodes = members.map((self, i) => start<Member>([program, self, disk(), `v${i}`, ...members]))
  const chosen = (await Promise.all(nodes.map(node => node.state(hasChosen)))).map(state => state.chosen)
  expect(new Set(chosen).size).toBe(1)
  expect(['v0', 'v1', 'v2']).toContain(chosen[0])
})

test('what was promised and accepted is there after a restart', async () => {
  const self = `${loopback(44)}:7000`
  const directory = disk()
  const before = await start<Member>([program, self, directory, 'v', self]).state(hasChosen)
  const after = await start<Member>([program, `${loopback(45)}:7000`, directory, 'other', self]).state(() => true)
  expect(before).toMatchObject({ promised: 1, accepted: { round: 1, value: 'v' }, chosen: 'v' })
  expect(after).toMatchObject({ promised: 1, accepted: { round: 1, value: 'v' }, chosen: null })
})

test('no two values are chosen, whatever is lost, late, doubled or restarted', () => {
  assertAgreement(member, (leader, name) => leader.propose(name), { runs: 300, steps: 120 })
})
