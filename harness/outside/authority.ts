import { createRequire } from 'node:module'

/**
 * A certificate authority in which only nodes trust, and only those of a system with something outside. Its keys are no
 * secret: a run must get the same bytes each time.
 */

/** A server's key and certificate, in PEM. */
export interface Certificate {
  readonly key: string
  readonly cert: string
}

const authorityKey = `-----BEGIN PRIVATE KEY-----
MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDbHLpZAGWqg+UM
Rqx0ojcn+PSKQGh8ANj2yYpOE2CpaYp1Is/8ihsdny83K/1JUke8lfbAw7h+FGck
9BGWGKcfLg4xAHZghG9i/t60PdYoCqCs9yX0L+3MhDNik98Tg003L2sld4xwJKOs
uJqe0Vq0xAAEigsDZd2AraGiXzV4ERAE51A8z0+ZcfkR/A6ktQuC4vmdXgMkqR/g
S1TocPOvqxSJm7yOKN1MF7hxID9UpJma0fcGnaIzlM7rAAUlxOfZnR6uctqnwXPd
Hl9arW+hb2SDJmolLy68xq3z8cIHx2Eb1KLB/xroBwW72zEyfL7fpXn7KIw2YqLl
2USfWZzPAgMBAAECggEAYdspqlgQD6BKKjpiCNDtmy+HXzs2rrLeMxF9cDMdR2v4
RyoeA2ZWh9sxBg3iV92kZif/hMWkXsKT8iACvqsR8E3sTpwrQh3DdU3ofkzjmQxu
B/F1BOJm7KDaJhtuVFOep5fI3XnPwcHLS3dCrs1HGlYyv9Q66PCUhUSGXHLy+USp
qdQ9ir5GpnaBxEHgjqc76udVAAQxDyuI4tEypA4zANhCCYaGKaXiW1HxoDIV2OdQ
nl0ystobuJfTMItyDw2GBx2f+BxeOKodUTBpd9vrY2iSYpeThyFpywgUWYxr/UCB
jRkU1Eb/CbTDXyji+6A21sy+G66VOkUfLFSxZwUeaQKBgQD6MC/prH2xH1D46WEL
XeAN1qHHHgCCKH4bI/al1/v5MAQvQgOF23ylJruLowjV/KJX3xje27h43Q5vNAKV
mulrboQZmDLqhm68PgqWzv+e25j/F0DX/slZzj1ThqPY9Y+e8S4RZfzBUGFLb0AJ
MZW1NL8iuwCmKlpHXg2lwyLgYwKBgQDgM70eGXk8r2twj7Y7v3cF0sfXTc5gThu/
J4/FWRkAEdr7VxImleEFiYNZ0mNz6xi2jcMS1O/KyppjPsFyfo4EmFZiXsN/0RAN
TIxQAiM3jus5Kbiu28GMOjQHOaZXVPLs8vBe/EWiOb0JToB1+UPeWuHR2JDHNVJU
yHENp3EfpQKBgBoCOmjjaqmoJMXLlTAWUT1/C5BkmQ7u4LU3luOEwYgVKsoy5aTb
vWh5z1Nj3n5IZiQWaEJ6uwGtkVuUH5Sn5w4pDgiPHvPsh8R/+p/U4xQDpjMWmsIZ
lZsFarCtNYlPdd/DGNPsM0txbLvn09Ng2TxeQGR+5kFf88SpjWenEpAbAoGBAJZo
X1EYCct6a3uCDeEbW3/eng6EthTJkbe1lK/yS+FOGThQe27DUchjLmlNyUZ0y4l8
pQe3Ln8/WD+IVEK5QBE5GYq4xDK1UC170w3BwVp+WLNql+lGqBuo2EqYlE02QhpQ
CI3Qc+6XCYh6z5dVeABtu90Jimb6EJesOJvOXwe5AoGBAOv38ex+Oe8Me+mwj/34
0Wln5D4IOIs0B0v2/WGszNCiDotsuV7N2BcDuRI6oyt75NSxxhYCiGTrYFabgc0j
PuEAa1A8PbRFm02ESqqp6Lds0DZ6eVguC2w7okSmA2Ugv1ChmHffp2wQ0tDzq7C1
6Pvw0w+PyGhi7lniag0jMdhe
-----END PRIVATE KEY-----
`

/** The authority's certificate, valid from 2000 to 2099. */
export const authorityCertificate = `-----BEGIN CERTIFICATE-----
MIIDHTCCAgWgAwIBAgIBATANBgkqhkiG9w0BAQsFADAvMS0wKwYDVQQDEyRsYXN0
bmFpbCwgZm9yIG5vZGVzIHRoYXQgYXJlIGNoZWNrZWQwIBcNMDAwMTAxMDAwMDAw
WhgPMjA5OTEyMzEwMDAwMDBaMC8xLTArBgNVBAMTJGxhc3RuYWlsLCBmb3Igbm9k
ZXMgdGhhdCBhcmUgY2hlY2tlZDCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoC
ggEBANsculkAZaqD5QxGrHSiNyf49IpAaHwA2PbJik4TYKlpinUiz/yKGx2fLzcr
/UlSR7yV9sDDuH4UZyT0EZYYpx8uDjEAdmCEb2L+3rQ91igKoKz3JfQv7cyEM2KT
3xODTTcvayV3jHAko6y4mp7RWrTEAASKCwNl3YCtoaJfNXgREATnUDzPT5lx+RH8
DqS1C4Li+Z1eAySpH+BLVOhw86+rFImbvI4o3UwXuHEgP1SkmZrR9wadojOUzusA
BSXE59mdHq5y2qfBc90eX1qtb6FvZIMmaiUvLrzGrfPxwgfHYRvUosH/GugHBbvb
MTJ8vt+lefsojDZiouXZRJ9ZnM8CAwEAAaNCMEAwDwYDVR0TAQH/BAUwAwEB/zAO
BgNVHQ8BAf8EBAMCAQYwHQYDVR0OBBYEFEQepdpCFc3eTWtjqI5lwoxVuOVGMA0G
CSqGSIb3DQEBCwUAA4IBAQA2fVyf8AROmzf9yjafg546hWETDxGJAo/wRr3uWUVe
SpVa9LvKwK6S6vCEmpDL7JNLpDYzEO56Izyyl8PUNIH4ZYUt4bISWgJ9zHQnxcNI
qZWpZcsXLT2G+LaKLPLBxAus+i/ao62Wcd2yeIeaPBbtm7ZfRsgg2ShXnAhWIrd+
cb7vmRfV41fJp5wpBoaxB/fQe+S6QqNUTgsNPD0LwcNaBTGjWBna8QBrT86bqEjo
c+76RTewpDz66JmSu3LtksUhnSAiW4dpLdgeLwnelAySFLD1c9El+J4InjAFVXjj
2nffMy49ZxknO6GYno/GBKCwCnaAwaHPcmjAhOXG9FYl
-----END CERTIFICATE-----
`

/** Name of the authority's certificate in a directory of OpenSSL: the hash of its subject. */
export const authorityHash = 'f65210a9'

/** The same certificate as a JVM reads it: a key store by keytool, of the type JKS, in base64. */
export const authorityKeyStore =
  '/u3+7QAAAAIAAAABAAAAAgAIbGFzdG5haWwAAAGiKqtG8gAFWC41MDkAAAMhMIIDHTCCAgWgAwIBAgIBATANBgkqhkiG9w0BAQsFADAvMS0wKwYDVQQDEyRsYXN0bmFpbCwgZm9yIG5vZGVzIHRoYXQgYXJlIGNoZWNrZWQwIBcNMDAwMTAxMDAwMDAwWhgPMjA5OTEyMzEwMDAwMDBaMC8xLTArBgNVBAMTJGxhc3RuYWlsLCBmb3Igbm9kZXMgdGhhdCBhcmUgY2hlY2tlZDCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEBANsculkAZaqD5QxGrHSiNyf49IpAaHwA2PbJik4TYKlpinUiz/yKGx2fLzcr/UlSR7yV9sDDuH4UZyT0EZYYpx8uDjEAdmCEb2L+3rQ91igKoKz3JfQv7cyEM2KT3xODTTcvayV3jHAko6y4mp7RWrTEAASKCwNl3YCtoaJfNXgREATnUDzPT5lx+RH8DqS1C4Li+Z1eAySpH+BLVOhw86+rFImbvI4o3UwXuHEgP1SkmZrR9wadojOUzusABSXE59mdHq5y2qfBc90eX1qtb6FvZIMmaiUvLrzGrfPxwgfHYRvUosH/GugHBbvbMTJ8vt+lefsojDZiouXZRJ9ZnM8CAwEAAaNCMEAwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwHQYDVR0OBBYEFEQepdpCFc3eTWtjqI5lwoxVuOVGMA0GCSqGSIb3DQEBCwUAA4IBAQA2fVyf8AROmzf9yjafg546hWETDxGJAo/wRr3uWUVeSpVa9LvKwK6S6vCEmpDL7JNLpDYzEO56Izyyl8PUNIH4ZYUt4bISWgJ9zHQnxcNIqZWpZcsXLT2G+LaKLPLBxAus+i/ao62Wcd2yeIeaPBbtm7ZfRsgg2ShXnAhWIrd+cb7vmRfV41fJp5wpBoaxB/fQe+S6QqNUTgsNPD0LwcNaBTGjWBna8QBrT86bqEjoc+76RTewpDz66JmSu3LtksUhnSAiW4dpLdgeLwnelAySFLD1c9El+J4InjAFVXjj2nffMy49ZxknO6GYno/GBKCwCnaAwaHPcmjAhOXG9FYljZ7gcfJolyhmKnlY457SZ8Lg+AU='

const serverKey = `-----BEGIN PRIVATE KEY-----
MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQCIi160OE8N2yGz
TJZZpALyy4I4DZ/mrbXJAIMvRSSTw8GLp4OzbnMxigRkvRSwHeoUYgNReOg9Did7
e7G2MDrnvgjdY7tJ4fp9t5Jb6pNBvDB5f+XPY9KbJreuDHey87AF6mDELnvrim7a
P1iGd/52/7W/CvUqZybHoZZ90/pmNcaMo0h7kFlNscg5d6bD90oclWgRo0/YJIsu
OyZF3vDJ7f0SlyKZU35DEWyHS4GX8MY4sK4kl8oACn3pdEIzBAikZp4uer9lpQIq
CC5e9YfhxYgUYeDQ4qNWHFUr0ltE9TX6RfLmeQjYazyNbmIddvOKsqDtksuN0A4N
kSM0uT2FAgMBAAECggEAA5QdG0p05/J1fT/lZ0Jt9I1ydqQExZ4jEYchHDzXqve9
ogdcSd7Ix7EyURTGu6CAR6B5+pY/0yA31xV0bUeLHUYhvVhyMPGEB+xAh1NfU9Qd
NFH7ZLNDcpJR/6goyvJDPr4LYzJ34cIMpBoQG+LkZgICcjG7Uy0sGwQYVmiwobt+
3fRQLgU3GlOh4M2X09/25doOVx/pLgUyivtmQLJyRpD5p6hQHf2IFT2O0W2pnGj9
NtKiqoApjKUV1RqJdwzhGLImlaoiMzOVxis6mQlWP8XgAZSluYW2cRubtbFAWiic
kC6p+qpi0tjAdQV6KypYiz8R5f5JyFFMvQonUGNoAQKBgQC9wLA90+jirRJHVKTE
/u0jorpDVci94fEqaoo041U94prrYFY6XYu/+UPQ7sM63/HG2TNQTsOMycSPvlL0
/9Ii8w+Z+HMRk92192epbya4BkqcKFR2U1IdKHHy1S6cs75VvlLz1l3bHLGbmPJ6
0FtIulcyBzjguHKO74sY258FgQKBgQC4NyVHmC8bH1I1O7TcEOeisBXl9XePDPpr
HHiZQUk52OOraqgzAk0ZFz2uWQbt0T6L+v7+KGVXj+ddU/kYBcY0gvM0K+g4h9MT
ax1dT5BwTZIWF/QAwym/d+HyEAce/3u/FmLBk87DyYAkNUxy8z8fqp3qY6P/EquO
3ZAQK2MiBQKBgQC8NxsZ2M5RuXY+BrmBJZQ3GrxC+h4qKqk6d38rQqtUvScJff9J
2Ww7OZaI8av5BBUgNmVtrRLO3Xv5UMGcfvwC6rF4+jW5I8BxNDxAlh4Dv0nWZzKQ
Q8lZXrrYMZkQmkGbbzN85g8mvel1+1nZdD53f03qM7u5O3t2SCjiuUWdAQKBgQCW
pHn27ytuWZGneJjw8V4K+0YdFDveHnXWC6VPZkUUahnb/s9nTzVvFENbhPAWoGsu
m2XUv4IINeS0vEvR6j7oiEGL42/2cpQYqBqOSNdMDxMswA/IY9CLA+UgRx0bqz8t
x4eg11dZYjlI4tEOm35+Tc7vcuYUW9cxcFwz7NcXZQKBgFeQD3x75PepYjb3K1zw
f2Qjxwotr+yw7zHYPeOrULc/48apef9bRrL1HN4b2SsSDj9/q/vtjeBEpafpLdVL
ZWVW4mCVXPfz8f6EzvZ7ZksXIK/Q53w+F7+CRMdtt3MoLv4OBywbHFfBe7f4k0JF
RxOobYvByTvwOlOiWeczIKGA
-----END PRIVATE KEY-----
`

const notBefore = new Date('2000-01-01T00:00:00Z')
const notAfter = new Date('2099-12-31T00:00:00Z')
const require = createRequire(import.meta.url)
/** In an extension subjectAltName: a DNS name. */
const dnsName = 2

/** The key and the certificate of a server with this name; the same bytes for the same name. */
export const certificateFor = (host: string): Certificate => {
  // Few systems have TLS outside, and it takes a while to load.
  const { pki, md }: typeof import('node-forge') = require('node-forge')
  const { n, e } = pki.privateKeyFromPem(serverKey) as import('node-forge').pki.rsa.PrivateKey
  const certificate = pki.createCertificate()
  certificate.publicKey = pki.rsa.setPublicKey(n, e)
  certificate.serialNumber = '02'
  certificate.validity.notBefore = notBefore
  certificate.validity.notAfter = notAfter
  certificate.setSubject([{ name: 'commonName', value: host }])
  certificate.setIssuer(pki.certificateFromPem(authorityCertificate).subject.attributes)
  certificate.setExtensions([
    { name: 'subjectAltName', altNames: [{ type: dnsName, value: host }] },
    { name: 'extKeyUsage', serverAuth: true },
  ])
  certificate.sign(pki.privateKeyFromPem(authorityKey), md.sha256.create())
  return { key: serverKey, cert: pki.certificateToPem(certificate).replaceAll('\r', '') }
}
