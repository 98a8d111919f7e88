import type { RegisterName, Registers } from '../../../linux/ptrace.ts'
import { syscallNumber } from '../../../linux/syscall-number.ts'
import type { Treat, Treatments } from '../calls/treatment.ts'
import { firstSecond, instantOf } from '../clock/periods.ts'
import { letLook } from '../held/call-sites.ts'
import type { HeldProcess } from '../held/held-node.ts'

/**
 * File times. The kernel stamps files by this machine's clock. A program that asks for times is shown what its node's
 * clock showed at that moment. Times before the node began, and times that a program has set, are kept.
 */

/** Where a call writes the attributes of a file, and the offsets of the times there: seconds, then nanoseconds. */
interface Layout {
  readonly address: RegisterName
  readonly times: readonly number[]
}

const stat = (address: RegisterName): Layout => ({ address, times: [72, 88, 104] })

/** Lets the kernel make the call, and changes the times in its result. */
const showTimes =
  (layout: Layout): Treat =>
  (thread, registers, name) => {
    const { address, times } = layout
    letLook(thread.process, registers.get('rip'), { number: syscallNumber[name], address, times, from: firstSecond })
    thread.atExit = after => {
      if (after.get('rax') === 0) translate(thread.process, after, layout)
    }
    return 'exit'
  }

const translate = ({ memory, node }: HeldProcess, registers: Registers, { address, times }: Layout): void => {
  const first = registers.get(address) + times[0]!
  const bytes = memory.read(first, times.at(-1)! - times[0]! + 12)
  let isChanged = false
  for (const time of times) {
    const at = time - times[0]!
    const seconds = Number(bytes.readBigInt64LE(at))
    const shown = node.clock.periods.shownAt(instantOf(seconds, bytes.readUInt32LE(at + 8)))
    if (shown === undefined) continue
    const instant = node.clock.showAt(shown, 'realtime')
    bytes.writeBigInt64LE(BigInt(instant.seconds), at)
    bytes.writeUInt32LE(instant.nanoseconds, at + 8)
    isChanged = true
  }
  if (isChanged) memory.write(first, bytes)
}

export const fileTimeCalls: Treatments = {
  stat: showTimes(stat('rsi')),
  lstat: showTimes(stat('rsi')),
  fstat: showTimes(stat('rsi')),
  newfstatat: showTimes(stat('rdx')),
  statx: showTimes({ address: 'r8', times: [64, 80, 96, 112] }),
}
