/**
 * Splits a command into words like a shell that knows only quotes and backslashes.
 *
 * @throws Error for an unclosed quote
 */
export const wordsOf = (command: string): string[] => {
  const words: string[] = []
  let word: string | undefined
  for (const [whole, single, double, escaped, plain] of command.matchAll(token)) {
    if (whole === "'" || whole === '"') throw new Error(`expected a closing ${whole}`)
    const part = single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? plain
    if (part !== undefined) word = (word ?? '') + part
    else if (word !== undefined) {
      words.push(word)
      word = undefined
    }
  }
  return word === undefined ? words : [...words, word]
}

const token = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)|\s+|['"]/gs
