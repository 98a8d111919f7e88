/** A label without its ordinals: where an earlier message was not sent, later ones count differently. */
export const withoutOrdinals = (label: string): string => label.replaceAll(/#\d+ ?/g, '')

/** What a label is about, whoever sends it and whatever its numbers: `n1→n2 #3 vote term=4` is about `vote term=`. */
export const subject = (label: string): string => label.replace(/^[^#]*#\d+ ?/, '').replaceAll(/\d+/g, '')
