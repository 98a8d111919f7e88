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
  /** Of the nodes, by name. */
  readonly places: Readonly<Record<string, readonly [x: number, y: number]>>
}

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
  /** In words, as are the links. */
  readonly ways: readonly string[]
  readonly links: readonly string[]
  /** The last ones. */
  readonly looks: readonly { readonly s: number; readonly up: number; readonly violated: number }[]
  /** The last ones, the latest first. */
  readonly happenings: readonly { readonly s: number; readonly label: string }[]
  /** What links carried from the look before the last one to the last, the busiest first. `load`: share of the bandwidth. */
  readonly loads: readonly { readonly link: string; readonly bytes: number; readonly load: number | null }[]
  readonly forwarded: number
  readonly bytes: number
  readonly dropped: number
  readonly calls: { readonly ok: number; readonly failed: number }
}
