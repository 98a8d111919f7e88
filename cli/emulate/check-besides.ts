import { waitingForOthers } from '../../harness/hold/turns/interruption.ts'
import { onCpus } from '../../linux/affinity.ts'
import { runCommand } from '../command/another-process.ts'

/**
 * Runs `lastnail check` from a state of a run in another process, with nodes of its own. Gives its exit code and what it
 * printed.
 */
export const checkBesides = (
  args: readonly string[],
  { cpus, signal }: { readonly cpus: readonly number[]; readonly signal: AbortSignal },
): ReturnType<typeof runCommand> => waitingForOthers(() => onCpus(cpus, () => runCommand(['check', ...args], signal)))
