/** Relative precision of a bound. A smaller one would cost more executions. */
const accuracy = 0.1

/**
 * Narrows the least bound with which something is met, by bisection; begins with 0 unless that is ruled out.
 *
 * @param met a bound with which it is met
 * @param missed a bound with which it is not met; -1 if none is known
 * @param attempt returns what it took with this bound, at most as much; `undefined` if it was not met
 */
export const narrow = async (
  met: number,
  missed: number,
  attempt: (bound: number) => Promise<number | undefined>,
): Promise<void> => {
  let [least, tooTight] = [met, missed]
  while (least > 0 && least - tooTight > accuracy * least) {
    const bound = tooTight < 0 ? 0 : Math.floor((tooTight + least) / 2)
    const took = await attempt(bound)
    if (took === undefined) tooTight = bound
    else least = took
  }
}
