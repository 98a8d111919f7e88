/** What a wait returns that was interrupted: EINTR, ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK */
export const interruptedResults: ReadonlySet<number> = new Set([-4, -512, -513, -514, -516])
