import { render } from 'preact'
import { Execution } from '../model/execution.ts'
import { storyOf } from '../model/story.ts'
import { App } from './app.tsx'
import './page.css'
import { Processes } from './processes.ts'
import { unpack } from './unpack.ts'

const { trace, live, path } = await unpack(document.getElementById('data')!.textContent!)
const served = document.getElementById('served')?.textContent
const root = document.getElementById('app')!
root.textContent = ''
const story = storyOf(new Execution(trace), live && new Execution(live))
render(<App {...{ story, path }} processes={served ? new Processes(JSON.parse(served)) : undefined} />, root)
