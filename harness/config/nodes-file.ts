/** How a file of nodes is read. A symbol: no node can have it as its name. */
export const readNodes: unique symbol = Symbol.for('lastnail.readNodes')
