import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Outside, OutsideAnswer, OutsideRequest } from './answers.ts'
import type { Certificate } from './authority.ts'

/** One port of the server, in its program. */
interface Served {
  readonly port: number
  readonly certificate: Certificate | undefined
  readonly answers: Outside
}

/**
 * The program of a host that is outside, executed from its source by a process of its own: it imports nothing and uses
 * nothing that is declared around it.
 */
const serve = (ports: readonly Served[]): void => {
  const http = process.getBuiltinModule('node:http')
  const https = process.getBuiltinModule('node:https')

  const requestOf = async (incoming: IncomingMessage): Promise<OutsideRequest> => {
    let body = ''
    for await (const chunk of incoming.setEncoding('utf8')) body += chunk
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://outside')
    const headers = incoming.headers as Record<string, string>
    return { method: incoming.method ?? 'GET', path: pathname, query: Object.fromEntries(searchParams), headers, body }
  }

  const none = ({ method, path }: OutsideRequest): OutsideAnswer => ({
    status: 404,
    body: `nothing answers ${method} ${path}`,
  })

  const kept = {}
  for (const { port, certificate, answers } of ports) {
    const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
      const request = await requestOf(incoming)
      const {
        status = 200,
        headers,
        body,
      } = typeof answers === 'function'
        ? await answers(request, kept)
        : (answers[`${request.method} ${request.path}`] ?? none(request))
      const isText = typeof body === 'string' || body === undefined
      outgoing.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers })
      if (typeof answers === 'function') console.log(JSON.stringify(kept))
      outgoing.end(isText ? body : JSON.stringify(body))
    }
    const server = certificate ? https.createServer(certificate, answer) : http.createServer(answer)
    server.listen(port)
  }
}

/** The source of the program that serves these ports. */
export const serverSource = (ports: readonly Served[]): string => {
  const list = ports.map(
    ({ port, certificate, answers }) =>
      `{ port: ${port}, certificate: ${JSON.stringify(certificate)}, answers: ${sourceOf(answers)} }`,
  )
  return `(${serve})([${list.join(', ')}])`
}

const sourceOf = (answers: Outside): string => {
  if (typeof answers !== 'function') return JSON.stringify(answers)
  const source = String(answers)
  return isExpression(source) ? `(${source})` : `Object.values({ ${source} })[0]`
}

/** A function written as a method, `'host:80'(request) { … }`, is none by itself. */
const isExpression = (source: string): boolean => {
  try {
    new Function(`return (${source})`)
    return true
  } catch {
    return false
  }
}
