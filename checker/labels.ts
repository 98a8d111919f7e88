// Labels are the system's; what is read from them here is only their convention: `n1→n2 #3 vote term=4`.

const standingAlone = /\b\d+\b/g

/** Without the numbers that stand alone: `n1→n2 # vote term=`. */
export const withoutNumbers = (label: string): string => label.replaceAll(standingAlone, '')

/** The numbers that stand alone: 3 and 4. */
export const numbers = (label: string): number[] => Array.from(label.matchAll(standingAlone), Number)

/** What a label is about, whoever sends it: `vote term=`. */
export const subject = (label: string): string => withoutNumbers(label.replace(/^[^#]*#\d+ ?/, ''))
