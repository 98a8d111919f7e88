import { documentOf, pageParts, policyOf } from './html.ts'
import type { RunPageData } from './run-data.ts'

/** The page of a running system, and its content security policy: it asks its own server, and loads nothing. */
export const runPageOf = (data: RunPageData): { readonly page: string; readonly policy: string } => {
  const { script, style } = pageParts('run')
  const page = documentOf({
    ...{ title: data.system, script, style, needs: 'This page needs JavaScript.' },
    data: `<script type="application/json" id="data">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script>`,
  })
  return { page, policy: policyOf(script, style, true) }
}
