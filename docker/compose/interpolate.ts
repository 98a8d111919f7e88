/** `$NAME`, `${NAME}`, `${NAME:-default}`, `${NAME:?message}` and the like; `$$` is a dollar. */
const reference = /\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?[-?+])([^{}]*))?\}|(.?))/g

export type Variables = Readonly<Record<string, string | undefined>>

/**
 * A text in which references to variables are replaced as in the Compose specification.
 *
 * @throws Error if a variable is not set and has no default, or a reference is malformed
 */
export const interpolate = (text: string, variables: Variables): string =>
  text.replace(reference, (whole, dollar?: string, bare?: string, braced?: string, how?: string, rest?: string) => {
    if (dollar) return '$'
    const name = bare ?? braced
    if (name === undefined) throw new Error(`expected a variable such as \${NAME}, or $$ for a dollar, found ${whole}`)
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined
    const isThere = how?.startsWith(':') ? value !== undefined && value !== '' : value !== undefined
    if (how?.endsWith('+')) return isThere ? rest! : ''
    if (isThere) return value!
    if (how?.endsWith('-')) return rest!
    throw new Error(`expected the variable ${name} to be set${how?.endsWith('?') && rest ? ` (${rest})` : ''}`)
  })
