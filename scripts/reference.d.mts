import type { Command } from 'commander'

export const definitionPath: string
export const fieldsPage: (text: string) => string
export const optionsPage: (program: Command) => string
export const composePage: (used: object, ignored: object, refused: object) => string
export const kindsPage: (kinds: object, happenings: object) => string
export const formatted: (path: string, text: string) => string
