/** Limit on the characters of an answer, because clients have little room to read it. */
export const answerMax = 20_000

export const boundedText = (text: string): string =>
  text.length <= answerMax ? text : `${text.slice(0, answerMax)}\n… ${text.length - answerMax} more characters`

/** JSON of a value. If it is too long, the middle of its long lists is left out, so that it still can be parsed. */
export const boundedJson = (value: unknown): string => {
  let json = JSON.stringify(value)
  for (let itemsMax = 256; json.length > answerMax && itemsMax >= 2; itemsMax /= 2)
    json = JSON.stringify(value, (_, each) => (Array.isArray(each) ? ends(each, itemsMax) : each))
  return json
}

const ends = (list: readonly unknown[], max: number): readonly unknown[] => {
  if (list.length <= max) return list
  return [...list.slice(0, max / 2), `… ${list.length - max} more`, ...list.slice(-max / 2)]
}
