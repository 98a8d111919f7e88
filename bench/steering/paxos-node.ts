/**
 * A member of the corpus's Paxos that proposes once, at a time: CrystalBall's scripted run (section 5.4.2).
 *
 *     node paxos-node.js SELF VALUE AFTER_MS MEMBER…
 *
 * AFTER_MS is `-` for a member that proposes nothing. A member whose disk is not empty is in its second life. With `SECOND`, only that
 * one proposes. `DEAF` is the address of a member that is told no `learn`.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../corpus/package-root.ts'

const corpus = join(packageRoot, 'examples/corpus')
const from = (path: string) => import(join(corpus, path))
const [{ Paxos }, { openDisk }, { openDatagrams }, { log }] = await Promise.all(
  ['paxos/paxos.js', 'paxos/disk.js', 'common/datagrams.js', 'common/log.js'].map(from),
)

const [self, value, afterMs, ...members] = process.argv.slice(2)
const { SECOND, DEAF } = process.env
const disk = openDisk('disk')
const isSecond = existsSync('disk/begun')
writeFileSync('disk/begun', '')

const paxos = new Paxos({
  self,
  members,
  send: (member: string, message: { readonly type: string }) => {
    if (message.type !== 'learn' || member !== DEAF) datagrams.send(member, message)
  },
  save: disk.save,
  saved: disk.load(),
})
const logState = () => log({ self, ...paxos.state })
const datagrams = openDatagrams(self, {
  onMessage: (message: unknown, sender: string) => {
    paxos.receive(message, sender)
    logState()
  },
  onOpen: logState,
})
const proposes = afterMs !== '-' && (SECOND === undefined || isSecond)
if (proposes)
  setTimeout(() => {
    paxos.propose(value)
    logState()
  }, Number(afterMs))
