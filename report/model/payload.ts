/** Bytes as text, with JSON indented; `undefined` unless all of it is printable UTF-8. */
export const printableText = (bytes: Uint8Array): string | undefined => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are the unprintable ones
    return /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

const bytesPerLine = 16

/** In the format of `hexdump -C`: offset, bytes, characters. */
export const hexOf = (bytes: Uint8Array): string => {
  const lines: string[] = []
  for (let offset = 0; offset < bytes.length; offset += bytesPerLine) {
    const line = bytes.subarray(offset, offset + bytesPerLine)
    const hex = Array.from(line, byte => byte.toString(16).padStart(2, '0')).join(' ')
    const characters = Array.from(line, byte => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('')
    lines.push(`${offset.toString(16).padStart(6, '0')}  ${hex.padEnd(bytesPerLine * 3 - 1)}  ${characters}`)
  }
  return lines.join('\n')
}
