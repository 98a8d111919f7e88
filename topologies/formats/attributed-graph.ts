/** A graph as GML and GraphML have it: two ways of writing the same. */
export interface AttributedGraph {
  readonly directed: boolean
  readonly attributes: Attributes
  readonly nodes: readonly AttributedNode[]
  readonly edges: readonly AttributedEdge[]
}

export type Attributes = Readonly<Record<string, string | number>>

export interface AttributedNode {
  readonly id: string
  readonly attributes: Attributes
  /** In the file, counted from 1; 0 for one that is yet to be written. */
  readonly line: number
}

export interface AttributedEdge {
  readonly source: string
  readonly target: string
  readonly attributes: Attributes
  /** As of a node. */
  readonly line: number
}
