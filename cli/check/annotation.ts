import type { Verdict } from '../../checker/verdict/verdict.ts'

/** A line of output that makes a job of GitHub Actions show a failed check beside the code. */
export const annotationOf = (system: string, file: string, { verdict, property, kind, message }: Verdict): string => {
  const level = verdict === 'violated' ? 'error' : 'warning'
  const title = `${system}: ${property ?? kind ?? 'no verdict'} ${verdict}`
  return `::${level} file=${escapeField(file)},title=${escapeField(title)}::${escapeText(message)}`
}

const escapeText = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
const escapeField = (text: string) => escapeText(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
