import { UsageError } from '../../checker/errors.ts'
import { inSeconds } from '../../checker/show.ts'
import type { ImmediateCheckListener } from '../../harness/steering/immediate-check.ts'
import { describeSteer } from '../../harness/timed/action.ts'

/** Says on stderr what steering does, one line each. */
export const sayInterventions: ImmediateCheckListener = {
  onPrevented({ property, label, atMs }, action) {
    process.stderr.write(
      `lastnail: at ${inSeconds(atMs)}, ${property} would not hold after ${label}: ${describeSteer(action)}\n`,
    )
  },
  onMissed({ property, label, atMs }) {
    process.stderr.write(`lastnail: at ${inSeconds(atMs)}, ${property} does not hold after ${label}: missed\n`)
  },
}

/** Steps are taken back, which only virtual time allows. */
export const takesBack = (pace: string): UsageError =>
  new UsageError(`--steer takes steps back, which at the pace ${pace} is too late`)
