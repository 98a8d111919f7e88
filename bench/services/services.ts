/** How a runtime's peer is built and started. */
interface Service {
  readonly needs: readonly string[]
  /** Commands, in a directory with all programs. */
  readonly build: readonly (readonly string[])[]
  /** With the address of its peer. */
  readonly command: (peer: string) => readonly string[]
}

const go = (environment: readonly string[], start: readonly string[] = []): Service => ({
  needs: ['go'],
  build: [['env', 'GO111MODULE=off', ...environment, 'go', 'build', '-o', 'peer', 'peer.go']],
  command: peer => [...start, './peer', peer],
})

/** Programs with the defaults of their runtimes. */
export const services: Readonly<Record<string, Service>> = {
  node: { needs: ['node'], build: [], command: peer => ['node', 'peer.cjs', peer] },
  python: { needs: ['python3'], build: [], command: peer => ['python3', 'peer.py', peer] },
  'go-static': go(['CGO_ENABLED=0']),
  'go-dynamic': go(['CGO_ENABLED=1']),
  'go-4': go(['CGO_ENABLED=0'], ['/usr/bin/env', 'GOMAXPROCS=4']),
  jvm: {
    needs: ['javac', 'java'],
    build: [['javac', 'Peer.java']],
    command: peer => ['java', '-cp', '.', 'Peer', peer],
  },
}
