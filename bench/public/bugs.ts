import { join } from 'node:path'
import { packageRoot } from '../corpus/package-root.ts'

/** A bug of somebody else's program that others have found and published, with the figure that they give. */
export interface PublicBug {
  readonly id: string
  /** Directory beside this file, with the program and the configuration. */
  readonly system: string
  /** Its configuration, where the directory has several: `watch` is `watch.config.ts`. */
  readonly config?: string
  /** The property of the configuration that it violates. */
  readonly property: string
  /** For the configuration. */
  readonly environment?: Readonly<Record<string, string>>
  /** The release that has it. */
  readonly affected: string
  /** The newest release, where that is another one and must hold. */
  readonly newest?: string
  /** How long it took those who published it, in seconds, where they say so. */
  readonly publishedSeconds?: number
  readonly report: string
}

/** Commands that fill a directory with one release. */
export const installs: Readonly<Record<string, (release: string) => readonly (readonly string[])[]>> = {
  pysyncobj: release => [pip(`pysyncobj==${release}`)],
  raftos: release => [pip(`raftos==${release}`), pip('msgpack-python==0.4.8')],
  // Not by `go install`, which refuses the replacements in its go.mod.
  etcd: release => [
    ['go', 'mod', 'init', 'fetched'],
    ['go', 'get', `go.etcd.io/etcd/server/v3@v${release}`],
    ['go', 'build', '-o', 'etcd', 'go.etcd.io/etcd/server/v3'],
  ],
  level: release => [['npm', 'install', '--no-save', `classic-level@${release}`]],
  goleveldb: release => [
    ['cp', join(packageRoot, 'bench/public/goleveldb/main.go'), '.'],
    ['go', 'mod', 'init', 'fetched'],
    ['go', 'get', `github.com/syndtr/goleveldb/leveldb@${release}`],
    ['go', 'build', '-o', 'store', '.'],
  ],
}

const pip = (release: string) => ['pip', 'install', '--quiet', '--no-deps', '--target', '.', release]

const syncObj = { system: 'pysyncobj', affected: '0.3.11', newest: '0.3.17' }
const syncObjIssue = (issue: number) => `https://github.com/bakwc/PySyncObj/issues/${issue}`
const raftOs = { system: 'raftos', affected: '0.2.6' }
const raftOsIssue = (issue: number) => `https://github.com/zhebrak/raftos/issues/${issue}`
const etcd = { system: 'etcd', affected: '3.5.4', newest: '3.5.33' }
const etcdIssue = (issue: number) => `https://github.com/etcd-io/etcd/issues/${issue}`

/**
 * Of the record of correctness bugs that etcd keeps beside its robustness tests
 * (https://github.com/etcd-io/etcd/blob/main/tests/robustness/README.md). It says nothing of how long they took.
 */
const etcdBugs: readonly PublicBug[] = [
  {
    id: 'etcd#14370',
    ...etcd,
    config: 'power',
    property: 'nothingLost',
    report: etcdIssue(14370),
  },
  {
    id: 'etcd#14685',
    ...etcd,
    config: 'power',
    property: 'appliedOnce',
    environment: { DEFRAGMENT: '1' },
    report: 'https://github.com/etcd-io/etcd/pull/14685',
  },
  { id: 'etcd#15220', ...etcd, config: 'watch', property: 'progressInOrder', report: etcdIssue(15220) },
  { id: 'etcd#17780', ...etcd, config: 'compaction', property: 'revisionGrows', report: etcdIssue(17780) },
  { id: 'etcd#18089', ...etcd, config: 'watch', property: 'nothingMissed', report: etcdIssue(18089) },
  // Mended in no release.
  {
    id: 'etcd#18667',
    ...{ system: 'etcd', affected: '3.5.4' },
    config: 'txn',
    property: 'sameRevision',
    report: etcdIssue(18667),
  },
  {
    id: 'etcd#19179',
    ...etcd,
    affected: '3.5.17',
    config: 'compaction',
    property: 'nothingMissed',
    environment: { WATCH: '1' },
    report: etcdIssue(19179),
  },
]

/**
 * Table 2 of SandTable (Tang et al., EuroSys 2024, https://doi.org/10.1145/3627703.3650077), as far as the releases can be
 * installed: its bugs of the stage "Verification". There, a specification of each system was written by hand, and checked
 * with 20 hyperthreads.
 */
const sandTableBugs: readonly PublicBug[] = [
  { id: 'PySyncObj#2', ...syncObj, property: 'commitIndexGrows', publishedSeconds: 6, report: syncObjIssue(166) },
  { id: 'PySyncObj#3', ...syncObj, property: 'nextAfterMatch', publishedSeconds: 7, report: syncObjIssue(167) },
  { id: 'PySyncObj#4', ...syncObj, property: 'matchIndexGrows', publishedSeconds: 35, report: syncObjIssue(167) },
  {
    id: 'PySyncObj#5',
    ...syncObj,
    property: 'commitsOwnTerm',
    environment: { MEMBERS: '3' },
    publishedSeconds: 120,
    report: syncObjIssue(169),
  },
  { id: 'RaftOS#1', ...raftOs, property: 'matchIndexGrows', publishedSeconds: 5, report: raftOsIssue(25) },
  { id: 'RaftOS#2', ...raftOs, property: 'committedOnMajority', publishedSeconds: 4, report: raftOsIssue(26) },
  {
    id: 'RaftOS#4',
    ...raftOs,
    property: 'commitsOwnTerm',
    publishedSeconds: 240,
    report: 'https://github.com/zhebrak/raftos/pull/30',
  },
]

/** What a power failure leaves of stores: reported by those who lost a database. */
const storeBugs: readonly PublicBug[] = [
  // Mended in LevelDB, and not in the older one that this package has.
  {
    ...{ id: 'leveldb#189', system: 'level', affected: '3.0.0', property: 'opensAgain' },
    report: 'https://github.com/google/leveldb/issues/189',
  },
  {
    ...{
      id: 'goleveldb#335',
      system: 'goleveldb',
      affected: 'v1.0.0',
      newest: 'v1.0.1-0.20220721030215-126854af5e6d',
      property: 'opensAgain',
    },
    report: 'https://github.com/syndtr/goleveldb/issues/335',
  },
]

export const bugs: readonly PublicBug[] = [...sandTableBugs, ...etcdBugs, ...storeBugs]
