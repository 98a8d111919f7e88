import { portOf, tcpEntries, tcpState } from '../../linux/tcp-table.ts'

/** TCP ports on which processes beside this one listen, in ascending order. */
export const listeningPorts = (pid: number): number[] =>
  [...new Set(portsIn(pid, tcpState.listen))].sort((a, b) => a - b)

/** TCP ports from which they ask for a connection that is not answered yet. */
export const askingPorts = (pid: number): number[] => portsIn(pid, tcpState.synSent)

const portsIn = (pid: number, wanted: number): number[] =>
  tcpEntries(pid)
    .filter(({ state }) => state === wanted)
    .map(({ local }) => portOf(local))
