import { nodeNameOf, type Outside, type OutsidePort, outsidePortOf } from './answers.ts'
import { authorityCertificate, authorityHash, authorityKeyStore, certificateFor } from './authority.ts'
import { serverSource } from './server.ts'

/** What is outside, and runs like a node. */
export interface OutsideHost {
  readonly name: string
  readonly host: string
  readonly ports: readonly (OutsidePort & { readonly answers: Outside })[]
}

/** @param outside by `HOST:PORT`, each valid */
export const outsideHosts = (outside: Readonly<Record<string, Outside>>): OutsideHost[] => {
  const all = Object.entries(outside).map(([text, answers]) => ({ ...outsidePortOf(text)!, answers }))
  return [...new Set(all.map(({ host }) => host))].map(host => ({
    ...{ name: nodeNameOf(host), host, ports: all.filter(port => port.host === host) },
  }))
}

/** The command of its program. */
export const hostCommand = ({ host, ports }: OutsideHost): readonly string[] => {
  const served = ports.map(({ port, isTls, answers }) => ({
    ...{ port, answers, certificate: isTls ? certificateFor(host) : undefined },
  }))
  return [process.execPath, '--no-memory-reducer', '-e', serverSource(served)]
}

/** Whether the host speaks TLS, so that nodes must trust its authority. */
export const hasTls = ({ ports }: OutsideHost): boolean => ports.some(({ isTls }) => isTls)

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
