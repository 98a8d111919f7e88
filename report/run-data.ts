/** What the page of a running system begins with. */
export interface RunPageData {
  readonly system: string
  /** For each request of the page. */
  readonly token: string
  /** Null if there is no topology. */
  readonly map: RunMap | null
}

/** A picture of a topology, on a square of 640. */
export interface RunMap {
  readonly lines: readonly {
    readonly d: string
    readonly colour: string
    readonly width: number
    readonly opacity: number
  }[]
  /** Of all nodes of the topology, by name. */
  readonly points: Readonly<Record<string, MapPoint>>
  /** How many nodes of the system are among them. Those that are added later have the points of these names, in their order. */
  readonly given: number
  readonly spares: readonly string[]
  /** The node to which each client is linked. */
  readonly attached: Readonly<Record<string, string>>
}

export type MapPoint = readonly [x: number, y: number]

/** What the page asks for again and again. */
export interface SeenRun {
  readonly elapsedMs: number
  readonly nodes: readonly {
    readonly name: string
    readonly address: string
    readonly isAlive: boolean
    readonly isCut: boolean
  }[]
  readonly groups: readonly (readonly string[])[] | null
  /** What was set from one node to another. */
  readonly ways: readonly { readonly text: string; readonly ends: readonly string[]; readonly isCut: boolean }[]
  /** Links that are not as they were. `ends`: of the topology, or the one node whose link it is. */
  readonly links: readonly { readonly text: string; readonly ends: readonly string[]; readonly isCut: boolean }[]
  /** What `control plan` has planned and has not happened. */
  readonly planned: readonly { readonly s: number; readonly text: string }[]
  /** The last ones. */
  readonly looks: readonly { readonly s: number; readonly up: number; readonly violated: number }[]
  /** The last ones, the latest first. */
  readonly happenings: readonly { readonly s: number; readonly label: string }[]
  /** What links carried from the look before the last one to the last, the busiest first. `load`: share of the bandwidth. */
  readonly loads: readonly {
    readonly from: string
    readonly to: string
    readonly bytes: number
    readonly load: number | null
  }[]
  readonly forwarded: number
  readonly bytes: number
  readonly dropped: number
  readonly calls: { readonly ok: number; readonly failed: number }
}
