/** One bug of the corpus: the value of `BUG`, and what a check should find. */
export interface Bug {
  readonly id: string
  /** Directory of the system, under `examples/`. */
  readonly system: string
  /** As the system's configuration names it; `null` for a divergence. */
  readonly property: string | null
  readonly kind: 'safety' | 'liveness' | 'divergence'
  /** A pattern for the label of the critical transition, if the paper names it. */
  readonly expected?: RegExp
}

const bugsOf = (system: string, bugs: readonly Omit<Bug, 'system'>[]): Bug[] => bugs.map(bug => ({ ...bug, system }))

const safety = (id: string, property: string) => ({ id, property, kind: 'safety' as const })
const liveness = (id: string, property: string, expected?: RegExp) => ({
  id,
  property,
  kind: 'liveness' as const,
  ...(expected && { expected }),
})

export const bugs: readonly Bug[] = [
  ...bugsOf('transport', [liveness('transport-stale-syn', 'allAcknowledged', /receiver→sender .*ACK/)]),
  ...bugsOf('corpus/randtree', [
    liveness('randtree-joinreply-in-init', 'parentsAndChildrenAgree', /JoinReply/i),
    liveness('randtree-recovery-timer', 'oneRoot'),
    safety('randtree-timer-safety', 'recoveryTimerRuns'),
    liveness('randtree-newroot-any-sender', 'oneRoot'),
    liveness('randtree-remove-while-joining', 'parentsAndChildrenAgree'),
    { id: 'randtree-join-loop', property: null, kind: 'divergence' },
    liveness('randtree-lost-remove', 'parentsAndChildrenAgree'),
    safety('randtree-forceroot', 'forceRootMatches'),
    safety('randtree-children-siblings', 'childrenAreNotSiblings'),
    safety('randtree-root-as-child', 'rootIsAboveAll'),
    safety('randtree-root-siblings', 'rootHasNoSiblings'),
    safety('randtree-self-join', 'recoveryTimerRuns'),
  ]),
  ...bugsOf('corpus/brokentree', [safety('brokentree-self', 'noLoops'), safety('brokentree-loop', 'noLoops')]),
  ...bugsOf('corpus/overcast', [liveness('overcast-lost-unlock', 'oneTree')]),
  ...bugsOf('corpus/pastry', [
    liveness('pastry-row', 'allJoined'),
    liveness('pastry-partition', 'oneRing'),
    liveness('pastry-leafset', 'symmetric'),
    liveness('pastry-rejoin-self', 'allJoined', /Leaves/),
    liveness('pastry-rejoin-pair', 'allJoined'),
  ]),
  ...bugsOf('corpus/chord', [
    liveness('chord-self-successor', 'oneRing'),
    safety('chord-pred-self', 'aloneBothWays'),
    safety('chord-order', 'inOrder'),
    safety('chord-queue', 'shortQueue'),
    liveness('chord-finger-boundary', 'rightFingers'),
    liveness('chord-leave', 'oneRing'),
  ]),
  ...bugsOf('corpus/paxos', [
    safety('paxos-last-promise', 'agreement'),
    safety('paxos-forget-promise', 'agreement'),
    safety('paxos-begin-without-collect', 'acceptedRoundsIncrease'),
  ]),
  ...bugsOf('corpus/onepaxos', [safety('onepaxos-init', 'agreement')]),
  ...bugsOf('corpus/lockserver', [
    liveness('lock-livelock', 'everyRequestIsGranted'),
    liveness('lock-deadlock', 'everyRequestIsGranted'),
  ]),
  ...bugsOf('corpus/store', [
    liveness('store-replica-race', 'threeReplicas'),
    liveness('store-transient', 'indexIsRight'),
  ]),
  ...bugsOf('corpus/bullet', [safety('bullet-shadow-map', 'viewsAgree')]),
]

/** The systems, each of which is also checked without a bug. */
export const systems: readonly string[] = [...new Set(bugs.map(({ system }) => system))]

/** The rows of the corpus that CrystalBall reports. */
export const ofCrystalBall: readonly string[] = [
  'randtree-children-siblings',
  'randtree-root-as-child',
  'randtree-root-siblings',
  'randtree-self-join',
  'chord-pred-self',
  'chord-order',
  'chord-queue',
  'paxos-last-promise',
  'paxos-forget-promise',
  'bullet-shadow-map',
]
