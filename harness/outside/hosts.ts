import { nodeNameOf, type Outside, type OutsidePort, outsidePortOf } from './answers.ts'
import { authorityCertificate, authorityHash, authorityKeyStore, certificateFor } from './authority.ts'
import { programOf } from './server.ts'

/** What is outside, as a program that runs like a node. */
export interface OutsideHost {
  readonly name: string
  readonly host: string
  readonly command: readonly string[]
  readonly listens: readonly number[]
}

/** @param outside by `HOST:PORT`, each valid */
export const outsideHosts = (outside: Readonly<Record<string, Outside>>): OutsideHost[] => {
  const ports = Object.entries(outside).map(([text, answers]) => ({ ...outsidePortOf(text)!, answers }))
  return [...new Set(ports.map(({ host }) => host))].map(host => {
    const own = ports.filter(port => port.host === host)
    return {
      name: nodeNameOf(host),
      host,
      command: [process.execPath, '--no-memory-reducer', '-e', programOf(own.map(servedAs))],
      listens: own.map(({ port }) => port),
    }
  })
}

const servedAs = ({ host, port, isTls, answers }: OutsidePort & { readonly answers: Outside }) => ({
  ...{ port, answers, certificate: isTls ? certificateFor(host) : undefined },
})

/** Whether something outside speaks TLS, so that nodes must trust its authority. */
export const hasTls = (outside: Readonly<Record<string, Outside>>): boolean =>
  Object.keys(outside).some(text => outsidePortOf(text)!.isTls)

/** Where programs look for those whom they trust: OpenSSL, Go, curl, Python and the JVM, on Debian and Alpine, and on Fedora. */
export const trustDirectories = ['/etc/ssl/certs', '/etc/pki/tls/certs'] as const
const bundleName = 'ca-certificates.crt'

/** Files that stand in those directories, by name. Nothing else can be reached, so nobody else has to be trusted. */
export const trustFiles: Readonly<Record<string, string | Buffer>> = {
  [bundleName]: authorityCertificate,
  'ca-bundle.crt': authorityCertificate,
  [`${authorityHash}.0`]: authorityCertificate,
  'java/cacerts': Buffer.from(authorityKeyStore, 'base64'),
}

/** Variables of programs that bring a list of their own: Node.js, and Python's requests. */
export const trustVariables: Readonly<Record<string, string>> = {
  NODE_EXTRA_CA_CERTS: `${trustDirectories[0]}/${bundleName}`,
  REQUESTS_CA_BUNDLE: `${trustDirectories[0]}/${bundleName}`,
}
