/** A fault in words with a number: which fault, and at the n-th call. */
export interface Numbered<What extends string> {
  readonly what: What
  readonly at: number
}

/**
 * How such things are said, and read back: the words, then the number.
 *
 * @param words what each is called
 */
export const numbered = <What extends string>(words: Readonly<Record<What, string>>) => {
  const all = Object.keys(words) as What[]
  const said = ({ what, at }: Numbered<What>): string => `${words[what]} ${at}`
  /** Undefined for any other words. */
  const read = (text: string): Numbered<What> | undefined => {
    const what = all.find(each => text.startsWith(`${words[each]} `))
    const at = what && Number(/ ([1-9]\d*)$/.exec(text)?.[1])
    return what && at && said({ what, at }) === text ? { what, at } : undefined
  }
  return { all: all as readonly What[], said, read }
}
