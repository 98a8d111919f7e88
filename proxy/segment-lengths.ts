/**
 * What Linux learns from the lengths of the data segments that a connection receives (tcp_measure_rcv_mss): how long the
 * peer's segments are, and by this how much data fits into its buffer. The windows that it offers follow from both.
 */
export interface Lessons {
  /** Length of the segment by which it last estimated how much fits into its buffer; 0 if it never has. */
  readonly estimated: number
  /** Its idea of the length of the peer's segments (tcpi_rcv_mss). */
  readonly segment: number
  /** Bytes of the latest segment if below `segment` and, when repeated, its replacement; else 0. */
  readonly shorter: number
}

/** A new connection supposes this length (TCP_MSS_DEFAULT), and takes nothing shorter for a whole segment if pushed. */
const supposed = 536
/** Segments that are not pushed may be this short (TCP_MIN_MSS). */
const unpushedMin = 88

export const nothingLearned: Lessons = { estimated: 0, segment: supposed, shorter: 0 }

/** The lessons after another segment. */
export const learn = (lessons: Lessons, length: number, isPushed: boolean): Lessons => {
  const { estimated, segment, shorter } = lessons
  if (length >= segment) return { estimated: length > segment ? length : estimated, segment: length, shorter: 0 }
  if (length < (isPushed ? supposed : unpushedMin)) return shorter === 0 ? lessons : { ...lessons, shorter: 0 }
  return { estimated, segment: length === shorter ? length : segment, shorter: length }
}

/** A segment from which a connection learns. */
export interface Lesson {
  readonly length: number
  readonly isPushed: boolean
}

/** A few segments from which a new connection learns the same. */
export const lessonsAgain = ({ estimated, segment, shorter }: Lessons): Lesson[] => {
  const isEstimated = estimated > 0
  const isLowered = segment < (isEstimated ? estimated : supposed)
  const lengths = [
    // Only a segment that is longer than it supposes counts, so it first has to suppose less.
    ...(isEstimated && estimated <= supposed ? [unpushedMin, unpushedMin] : []),
    ...(isEstimated ? [estimated] : []),
    ...(isLowered ? [segment, segment] : []),
    ...(shorter > 0 && !(isLowered && shorter === segment) ? [shorter] : []),
    // One that is too short to count is forgotten at once, and so is the one before.
    ...(shorter === 0 && isLowered ? [1] : []),
  ]
  return lengths.map(length => ({ length, isPushed: length >= supposed || length < unpushedMin }))
}
