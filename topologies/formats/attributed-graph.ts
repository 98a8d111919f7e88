/** A graph with attributes, which GML and GraphML write in two ways. */
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
  /** Line in the file, from 1; 0 for a node that is not written yet. */
  readonly line: number
}

export interface AttributedEdge {
  readonly source: string
  readonly target: string
  readonly attributes: Attributes
  readonly line: number
}
