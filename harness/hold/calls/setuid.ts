import { readFileSync, readlinkSync, statSync } from 'node:fs'
import type { HeldProcess } from '../held/held-node.ts'

const [setUser, setGroup] = [0o4000, 0o2010]

/** Notes when a process executes a program that would change its user or group if it had no filter. */
export const noteSetuid = ({ pid, node }: HeldProcess): void => {
  const executable = `/proc/${pid}/exe`
  const { mode, uid, gid } = statSync(executable)
  const [isSetUser, isSetGroup] = [(mode & setUser) === setUser, (mode & setGroup) === setGroup]
  if (!isSetUser && !isSetGroup) return
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  const effective = (name: string) => Number(new RegExp(`^${name}:\\s*\\d+\\s+(\\d+)`, 'm').exec(status)?.[1])
  const isAnother = (isSetUser && uid !== effective('Uid')) || (isSetGroup && gid !== effective('Gid'))
  if (isAnother)
    node.note(
      `${readlinkSync(executable)} is setuid or setgid: it runs with the rights of who executes it alone (docs/nodes.md)`,
    )
}
