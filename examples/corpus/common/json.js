/** The value of a JSON text, or `undefined` where it is none: anybody can send anything. */
export const parse = text => {
  try {
    return JSON.parse(text)
  } catch {
    console.error(`not JSON: ${text}`)
  }
}
