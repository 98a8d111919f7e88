import { render } from 'preact'
import { ShownExecution } from '../model/execution.ts'
import { storyOf } from '../model/story.ts'
import { App } from './app.tsx'
import './page.css'
import { ServedProcesses } from './processes.ts'
import { unpack } from './unpack.ts'

const { trace, live, path } = await unpack(document.getElementById('data')!.textContent!)
const served = document.getElementById('served')?.textContent
const root = document.getElementById('app')!
root.textContent = ''
const story = storyOf(new ShownExecution(trace), live && new ShownExecution(live))
render(<App {...{ story, path }} processes={served ? new ServedProcesses(JSON.parse(served)) : undefined} />, root)
