import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { type ConfigError, resolveSystem } from '../../../harness/config/config.ts'
import { outsidePortOf } from '../../../harness/outside/answers.ts'
import { authorityCertificate, certificateFor } from '../../../harness/outside/authority.ts'

test.each([
  ['api.example.com:443', { host: 'api.example.com', port: 443, isTls: true }],
  ['api.example.com:80', { host: 'api.example.com', port: 80, isTls: false }],
  ['https://idp:8443', { host: 'idp', port: 8443, isTls: true }],
  ['http://idp:443', { host: 'idp', port: 443, isTls: false }],
  ['api.example.com', undefined],
  ['api.example.com:0', undefined],
  ['api.example.com:65536', undefined],
  ['api.example.com:80/path', undefined],
])('%s names a host and a port outside, or nothing', (text, port) => {
  expect(outsidePortOf(text)).toEqual(port)
})

test('a certificate is of the authority that nodes trust, and the same each time', () => {
  const { cert, key } = certificateFor('api.example.com')
  const certificate = new X509Certificate(cert)
  expect(certificate.verify(new X509Certificate(authorityCertificate).publicKey)).toBe(true)
  expect(certificate.checkHost('api.example.com')).toBe('api.example.com')
  expect(certificate.checkHost('other.example.com')).toBeUndefined()
  expect(certificateFor('api.example.com')).toEqual({ cert, key })
})

const nodes = { shop: { command: ['node', 'shop.js'], env: { NODE_EXTRA_CA_CERTS: 'own' } } }
const resolve = (outside: unknown) => resolveSystem({ name: 'shop', nodes, outside } as never, { directory: '/' })

test('a host with several ports is one program, beside the nodes and started before them', () => {
  const {
    nodes: all,
    outside,
    trustsOutside,
  } = resolve({
    'api.example.com:443': () => ({}),
    'api.example.com:80': { 'GET /': { status: 301 } },
  })
  expect(all.map(({ name, aliases, listens, after }) => ({ name, aliases, listens, after }))).toEqual([
    { name: 'shop', aliases: [], listens: [], after: ['api-example-com'] },
    { name: 'api-example-com', aliases: ['api.example.com'], listens: [443, 80], after: [] },
  ])
  expect({ outside, trustsOutside }).toEqual({ outside: ['api-example-com'], trustsOutside: true })
  expect(all[0]!.env).toMatchObject({ NODE_EXTRA_CA_CERTS: 'own' })
})

test('without TLS outside, nodes trust whom they trusted', () => {
  const { nodes: all, trustsOutside } = resolve({ 'api.example.com:80': {} })
  expect({ trustsOutside, env: all[0]!.env }).toEqual({ trustsOutside: false, env: nodes.shop.env })
})

test('what is wrong with it is said', () => {
  const problemsOf = (outside: unknown) => {
    try {
      resolve(outside)
    } catch (error) {
      return (error as ConfigError).problems
    }
    return []
  }
  expect(problemsOf({ 'shop:80': {} })).toEqual(['outside: expected no host that a node is, found shop'])
  expect(problemsOf({ 'api.example.com': {}, 'api:80': { 'GET /': { staus: 1 } } })).toEqual([
    "outside.api.example.com: expected a host and its port: 'api.example.com:443', found {}",
    'outside.api:80.GET /.staus: unknown field, did you mean "status"?',
  ])
})
