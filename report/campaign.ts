import { counted } from '../checker/system/brief.ts'
/** The data behind a campaign's page. */
export interface CampaignShown {
  readonly title: string
  /** When it was written. */
  readonly at: string
  readonly commits: readonly string[]
  readonly verdict: string
  /** Whether the campaign has ended. Until then the page reloads itself. */
  readonly isOver: boolean
  readonly seconds: number
  readonly rounds: readonly {
    readonly system: string
    readonly ordinal: number
    readonly verdict: string
    readonly executions: number
    readonly steps: number
    readonly states: number
    readonly seconds: number
    readonly message: string
  }[]
  readonly bugs: readonly {
    readonly system: string
    readonly property: string | null
    readonly kind: string
    readonly message: string
    readonly bucket: string
    readonly times: number
    readonly file: string | null
    /** Path of the report, relative to the page. */
    readonly report: string | null
  }[]
  /** How many distinct states were known at which time. */
  readonly growth: readonly { readonly seconds: number; readonly states: number }[]
  readonly workers: readonly string[]
  /** What the rounds met. */
  readonly met: readonly string[]
  readonly notes: readonly string[]
}

/** The page of a campaign: one HTML file without scripts that loads nothing. */
export const campaignPage = (shown: CampaignShown): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
${shown.isOver ? '' : '<meta http-equiv="refresh" content="10">\n'}<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>${text(shown.title)}: ${text(shown.verdict)}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
.wide { overflow-x: auto }
.wide table { min-width: 45rem; overflow-wrap: normal }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #8884; vertical-align: top }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
svg { width: 100%; height: 12rem; border: 1px solid #8884 }
a { color: inherit }
polyline { fill: none; stroke: currentColor; stroke-width: 2; vector-effect: non-scaling-stroke }
</style>
</head>
<body>
<main>
<h1>${text(shown.title)}</h1>
<p><strong>${text(shown.verdict)}</strong>, ${counted(shown.rounds.length, 'round')} in ${shown.seconds.toFixed(0)} s, written ${text(shown.at)}</p>
<ul>${shown.commits.map(commit => `<li>${text(commit)}</li>`).join('')}</ul>
<h2>Bugs</h2>
${shown.bugs.length === 0 ? '<p>None was found.</p>' : bugsTable(shown.bugs)}
<h2>New states over time</h2>
${growthPlot(shown)}
<h2>Workers</h2>
<ul>${shown.workers.map(worker => `<li>${text(worker)}</li>`).join('')}</ul>
<h2>Rounds</h2>
${roundsTable(shown.rounds)}
${section('Met', shown.met)}
${section('Notes', shown.notes)}
</main>
</body>
</html>
`

const section = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? '' : `<h2>${title}</h2><ul>${lines.map(line => `<li>${text(line)}</li>`).join('')}</ul>`

const table = (name: string, heads: readonly string[], rows: readonly (readonly string[])[]) =>
  `<div class="wide" role="region" aria-label="${name}" tabindex="0"><table><thead><tr>${heads.map(head => `<th>${head}</th>`).join('')}</tr></thead><tbody>${rows
    .map(row => `<tr>${row.join('')}</tr>`)
    .join('')}</tbody></table></div>`

const cell = (value: string) => `<td>${text(value)}</td>`
const number = (value: number) => `<td class="number">${value}</td>`

const bugsTable = (bugs: CampaignShown['bugs']) =>
  table(
    'Bugs',
    ['System', 'Bug', 'Found in rounds', 'What', 'Schedule', 'Report'],
    bugs.map(({ system, property, kind, message, bucket, times, file, report }) => [
      cell(system),
      cell(`${kind} ${property ?? ''} (${bucket})`),
      number(times),
      cell(message),
      cell(file ?? ''),
      report === null ? cell('') : `<td><a href="${text(encodeURI(report))}">report</a></td>`,
    ]),
  )

/** Only the latest rounds are listed. With more, the page of a long campaign gets slow to load. */
const roundsShown = 200

const roundsTable = (rounds: CampaignShown['rounds']) =>
  table(
    'Rounds',
    ['System', 'Round', 'Executions', 'Steps', 'States', 'Seconds', 'Came to'],
    rounds
      .slice(-roundsShown)
      .reverse()
      .map(({ system, ordinal, executions, steps, states, seconds, verdict, message }) => [
        cell(system),
        ...[ordinal, executions, steps, states, seconds].map(number),
        cell(`${verdict}: ${message}`),
      ]),
  )

const width = 1000
const height = 200

const growthPlot = ({ growth }: CampaignShown): string => {
  const [last] = growth.slice(-1)
  if (!last) return '<p>No round has ended yet.</p>'
  const most = Math.max(1, ...growth.map(({ states }) => states))
  const points = [{ seconds: 0, states: 0 }, ...growth]
    .map(
      ({ seconds, states }) =>
        `${((seconds / Math.max(last.seconds, 0.001)) * width).toFixed(1)},${(height - (states / most) * height).toFixed(1)}`,
    )
    .join(' ')
  return `<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${last.states} states after ${last.seconds.toFixed(0)} s"><polyline points="${points}"/></svg>
<p>${last.states} distinct states after ${last.seconds.toFixed(0)} s. Where the line is flat, more of the same time finds little that is new.</p>`
}

const text = (value: string) => value.replaceAll(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
