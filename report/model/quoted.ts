/** A text as a literal of JavaScript. */
export const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&').replaceAll('\n', '\\n')}'`

/** A word as a shell reads it. */
export const quotedForShell = (word: string): string =>
  /^[\w./@:=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
