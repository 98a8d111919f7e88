import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Trace } from '../checker/trace/trace.ts'
import { pack } from './pack.ts'
import type { Served } from './page-data.ts'

/** Where `npm run build` puts the page's script and style. */
const built = new URL(import.meta.url.endsWith('.ts') ? '../dist/page/' : '../page/', import.meta.url)

/**
 * The report page, with all its data in it. Its content security policy forbids loading anything, and running any other
 * script.
 *
 * @param path of the trace
 */
export const pageOf = (trace: Trace, live?: Trace, path?: string): string => page({ trace, live, path }, undefined)

/** The same page with controls for the processes that a server keeps behind it, and its content security policy. */
export const servedPageOf = (
  trace: Trace,
  live: Trace | undefined,
  served: Served,
): { readonly page: string; readonly policy: string } => {
  const { script, style } = pageParts('page')
  return { page: page({ trace, live }, served), policy: policyOf(script, style, true) }
}

/** The script and style of a page: the report, or a running system. */
export const pageParts = (name: 'page' | 'run') => ({
  script: readFileSync(new URL(`${name}.js`, built), 'utf8'),
  style: readFileSync(new URL(`${name}.css`, built), 'utf8'),
})

/** Nothing is loaded, and no other script and style count than these. A served page asks its own server. */
export const policyOf = (script: string, style: string, isServed: boolean): string =>
  [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    ...(isServed ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const page = ({ trace, live, path }: Shown, served: Served | undefined): string => {
  const { script, style } = pageParts('page')
  return documentOf({
    title: titleOf(trace),
    head: `<meta http-equiv="Content-Security-Policy" content="${policyOf(script, style, served !== undefined)}">\n`,
    ...{ script, style, needs: 'This report needs JavaScript.' },
    data: `<script type="text/plain" id="data">${pack(trace, live, path)}</script>
${served ? `<script type="application/json" id="served">${JSON.stringify(served)}</script>` : ''}`,
  })
}

interface Document {
  readonly title: string
  readonly head?: string
  readonly script: string
  readonly style: string
  /** What is read where scripts are not executed. */
  readonly needs: string
  /** Elements from which the script reads. */
  readonly data: string
}

/** A page with its script, its style and all its data in it. */
export const documentOf = ({ title, head = '', script, style, needs, data }: Document): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
${head}<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<div id="app"><p>${needs}</p></div>
${data}
<script type="module">${script}</script>
</body>
</html>
`

interface Shown {
  readonly trace: Trace
  readonly live: Trace | undefined
  readonly path?: string | undefined
}

const titleOf = ({ header, end }: Trace) => {
  const verdict = end?.verdict as
    | { verdict?: string; property?: string | null; kind?: string | null }
    | null
    | undefined
  const what = verdict?.property ?? verdict?.kind ?? `${header.seed}`
  return `${header.system}: ${what} ${verdict?.verdict ?? ''}`.trim()
}

const escapeHtml = (text: string) => text.replaceAll(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
