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

/** The same page with controls for the processes that a server keeps behind it. */
export const servedPageOf = (trace: Trace, live: Trace | undefined, served: Served): string =>
  page({ trace, live }, served)

const page = ({ trace, live, path }: Shown, served: Served | undefined): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:${served ? "; connect-src 'self'" : ''}">
<link rel="icon" href="data:,">
<title>${escapeHtml(titleOf(trace))}</title>
<style>${readFileSync(new URL('page.css', built), 'utf8')}</style>
</head>
<body>
<div id="app"><p>This report needs JavaScript.</p></div>
<script type="text/plain" id="data">${pack(trace, live, path)}</script>
${served ? `<script type="application/json" id="served">${JSON.stringify(served)}</script>` : ''}
<script type="module">${readFileSync(new URL('page.js', built), 'utf8')}</script>
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
