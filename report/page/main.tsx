import { render } from 'preact'
import { Execution } from '../model/execution.ts'
import { storyOf } from '../model/story.ts'
import { App } from './app.tsx'
import './page.css'
import { unpack } from './unpack.ts'

const { trace, live } = await unpack(document.getElementById('data')!.textContent!)
const root = document.getElementById('app')!
root.textContent = ''
render(<App story={storyOf(new Execution(trace), live && new Execution(live))} />, root)
