/** Marks a file of nodes. It is a symbol, because no node can have that as its name. */
export const readNodes: unique symbol = Symbol.for('lastnail.readNodes')
