// Labels are the system's; what is read from them here is only their convention: `n1→n2 #3 vote term=4`.

/** The labels of some choices, or of messages. */
export const labelsOf = (labelled: readonly { readonly label: string }[]): string[] =>
  labelled.map(({ label }) => label)

const standingAlone = /(?<![\w.])\d+(?:\.\d+)?/g

/** Without the numbers that stand alone, or before a unit: `n1→n2 # vote term=`. */
export const withoutNumbers = (label: string): string => label.replaceAll(standingAlone, '')

/** Without the numbers that messages have by the order in which they were sent: `n1→n2 vote term=4`. */
export const withoutOrdinals = (label: string): string => label.replaceAll(/ #\d+/g, '')

/** The numbers that stand alone: 3 and 4. */
export const numbers = (label: string): number[] => Array.from(label.matchAll(standingAlone), Number)

/** Whether it is a node's timer that fires: `n1 timer +250ms`. */
export const isTimer = (label: string): boolean => / timer \+/.test(label) && !label.startsWith('overlap ')

/** From where to where a message goes: `n1→n2`. */
export const way = (label: string): string => label.split(' ', 1)[0]!

/** What a message says, whoever sends it: `vote term=4`. */
export const content = (label: string): string => label.replace(/^[^#]*#\d+ ?/, '')

/**
 * Of a message, from where to where it goes and what kind of thing it says, without all that has a number in it or stands in
 * quotes; `undefined` for any other choice.
 */
export const outline = (label: string): string | undefined => {
  const [where, ...words] = label.replace(/".*/, '"').split(' ')
  if (!where?.includes('→')) return undefined
  return [where, ...words.filter(word => !/\d/.test(word))].join(' ')
}

/** What it is about: `vote term=`. */
export const subject = (label: string): string => withoutNumbers(content(label))
