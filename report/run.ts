import { escapeHtml, pageParts, policyOf } from './html.ts'
import type { RunPageData } from './run-data.ts'

/** The page of a running system, and its content security policy: it asks its own server, and loads nothing. */
export const runPageOf = (data: RunPageData): { readonly page: string; readonly policy: string } => {
  const { script, style } = pageParts('run')
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${escapeHtml(data.system)}</title>
<style>${style}</style>
</head>
<body>
<div id="app"><p>This page needs JavaScript.</p></div>
<script type="application/json" id="data">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script>
<script type="module">${script}</script>
</body>
</html>
`
  return { page, policy: policyOf(script, style, true) }
}
