import { readFileSync } from 'node:fs'
import { basename } from 'node:path/posix'

/**
 * Files of /proc in which the kernel counts what this machine and its network do: interrupts, pages, packets. Programs
 * seed random numbers by them, or watch them. In a node all counters are 0, and tables of sockets are in a fixed order,
 * without the kernel's own numbers.
 */

/** @param text the kernel's content */
type Show = (text: string) => string

const pressure = ['some', 'full'].map(what => `${what} avg10=0.00 avg60=0.00 avg300=0.00 total=0\n`).join('')

/** `name 17`, with or without a colon */
const zeroValues: Show = text => text.replaceAll(/^(\S+\s+)\d+$/gm, '$10')

/** Lines `Tcp: 1 200 …` below lines of names. The first values of Ip are settings. */
const zeroRows: Show = text =>
  text.replaceAll(/^(\w+:)((?: -?\d+)+)$/gm, (_, name: string, values: string) => {
    const kept = name === 'Ip:' ? 2 : name === 'Tcp:' ? 4 : 0
    return (
      name +
      values.replaceAll(/ -?\d+/g, (value, at: number) =>
        values.slice(0, at).split(' ').length <= kept ? value : ' 0',
      )
    )
  })

/** `name: used 3 mem 4` */
const zeroNumbers: Show = text => text.replaceAll(/ \d+/g, ' 0')

const zeroDevices: Show = text =>
  text.replaceAll(
    /^( *\S+:)(.*)$/gm,
    (_, name: string, counts: string) => name + counts.replaceAll(/\d+/g, number => '0'.padStart(number.length)),
  )

/**
 * Rows of TCP, UDP and raw sockets. Timers, inodes and addresses of the kernel differ in each execution, and the order
 * follows from a secret of the kernel.
 */
const sockets: Show = text => {
  const [head, ...rows] = text.trimEnd().split('\n')
  const shown = rows
    .map(row => row.trim().split(/\s+/).slice(1))
    .map(
      ([local, remote, state, queues, , , uid]) =>
        `${local} ${remote} ${state} ${queues} 00:00000000 00000000 ${uid!.padStart(5)}        0 0`,
    )
    .sort()
    .map((row, index) => `${String(index).padStart(4)}: ${row}`)
  return `${[head, ...shown].join('\n')}\n`
}

/** Rows of unix sockets: address of the kernel, counts, inode and path. */
const unixSockets: Show = text => {
  const [head, ...rows] = text.trimEnd().split('\n')
  const shown = rows.map(row => row.replace(/^\w+: (\w+ \w+ \w+ \w+ \w+) +\d+/, '0000000000000000: $1 0')).sort()
  return `${[head, ...shown].join('\n')}\n`
}

const headOnly: Show = text => `${text.split('\n')[0]}\n`
const nothing: Show = () => ''

/** Files of the machine. */
const ofMachine: Readonly<Record<string, Show>> = {
  interrupts: () => '           CPU0       \n',
  softirqs: () => '                    CPU0       \n',
  timer_list: text => text.split('now at')[0]!,
  vmstat: zeroValues,
  diskstats: nothing,
  schedstat: headOnly,
  'pressure/cpu': () => pressure,
  'pressure/io': () => pressure,
  'pressure/memory': () => pressure,
}

/** Files of a network. */
const ofNetwork: Readonly<Record<string, Show>> = {
  netstat: zeroRows,
  snmp: zeroRows,
  snmp6: zeroValues,
  sockstat: zeroNumbers,
  sockstat6: zeroNumbers,
  dev: zeroDevices,
  softnet_stat: nothing,
  rt_cache: headOnly,
  tcp: sockets,
  tcp6: sockets,
  udp: sockets,
  udp6: sockets,
  raw: sockets,
  raw6: sockets,
  unix: unixSockets,
  netlink: headOnly,
  packet: headOnly,
  protocols: headOnly,
}

/** Files of a process. */
const ofProcess: Readonly<Record<string, Show>> = {
  io: text => text.replaceAll(/\d+$/gm, '0'),
  schedstat: () => '0 0 0\n',
}

/** Names of these files. */
export const countedNames = [ofMachine, ofNetwork, ofProcess].flatMap(files =>
  Object.keys(files).map(name => basename(name)),
)

const path = /^\/proc\/(?:(self|thread-self|\d+)\/(?:task\/\d+\/)?)?(?:(net)\/)?([\w/]+)$/

/**
 * The content of such a file; undefined for every other path.
 *
 * @param readOf the kernel's content of a file of a process, `self` for its own
 */
export const countersShown = (asked: string, readOf: (id: string, name: string) => string): string | undefined => {
  const [, id, net, name] = path.exec(asked) ?? []
  if (name === undefined) return undefined
  const shows = net ? ofNetwork : id === undefined ? ofMachine : ofProcess
  if (!Object.hasOwn(shows, name)) return undefined
  const isOfProcess = net !== undefined || id !== undefined
  return shows[name]!(isOfProcess ? readOf(id ?? 'self', net ? `net/${name}` : name) : readFileSync(asked, 'latin1'))
}
