/** A request that a node sends to something outside of the system. */
export interface OutsideRequest {
  readonly method: string
  /** Without the query: `/v1/charges`. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

/** An HTTP response; with nothing else, 200 and an empty body. */
export interface OutsideAnswer {
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** A text, or anything that is sent as JSON. */
  readonly body?: unknown
}

/**
 * What an HTTP server outside of the system answers: by request (`GET /price`), or as a function. The function is
 * executed by a program of its own, one for each host, so it cannot use variables declared around it. It keeps state in
 * `kept`, which is empty at each start of that program; properties see it as the host's state.
 */
export type Outside =
  | Readonly<Record<string, OutsideAnswer>>
  | ((request: OutsideRequest, kept: Record<string, unknown>) => OutsideAnswer | Promise<OutsideAnswer>)

/** A node's name has hyphens where its host's name has dots. */
export const nodeNameOf = (host: string): string => host.replaceAll('.', '-')

/** A port of a host that is outside. */
export interface OutsidePort {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
}

const tlsPort = 443
const form = /^(?:(https?):\/\/)?([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?):(\d{1,5})$/i

/** Reads `api.example.com:443`, which speaks TLS, `http://api.example.com:443`, or `https://api.example.com:8443`. */
export const outsidePortOf = (text: string): OutsidePort | undefined => {
  const [, scheme, host, digits] = form.exec(text) ?? []
  const port = Number(digits)
  if (host === undefined || port < 1 || port > 65_535) return undefined
  return { host, port, isTls: scheme === undefined ? port === tlsPort : scheme.toLowerCase() === 'https' }
}
