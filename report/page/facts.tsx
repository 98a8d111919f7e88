import { counted } from '../../checker/system/brief.ts'
import { clocksStartOf } from '../../checker/trace/again.ts'
import type { Verdict } from '../../checker/verdict/verdict.ts'
import type { Story } from '../model/story.ts'
import { ExecuteAgain } from './again.tsx'
import { Plots } from './plots.tsx'

/** How the execution was made, and how to execute it again. */
export const Facts = ({ story, path }: { story: Story; path: string | undefined }) => {
  const { main, verdict } = story
  const { header } = main.trace
  return (
    <footer>
      <ExecuteAgain story={story} path={path} />
      <h2>How this was found</h2>
      <dl>
        {verdict && <SearchFacts verdict={verdict} />}
        <Fact name="Configuration">{header.config.path || '(given by a program)'}</Fact>
        <Fact name="Seed">{header.seed}</Fact>
        <Fact name="Clocks begin">{clocksStartOf(main.trace)}</Fact>
        <Fact name="Versions">
          {Object.entries(header.versions)
            .map(([name, version]) => `${name} ${version}`)
            .join(', ')}
        </Fact>
        {header.nodes.map(({ name, command, env, image }) => (
          <Fact key={name} name={name}>
            {Object.entries(env).map(([key, value]) => (
              <code key={key} class="variable">
                {key}={value}
              </code>
            ))}
            <code>{[...(image === '' ? [] : [image]), ...command].join(' ')}</code>
          </Fact>
        ))}
      </dl>
      {verdict && <Plots verdict={verdict} />}
    </footer>
  )
}

const figures = ({ executions = 0, steps = 0, states = 0 }: Partial<Verdict>) =>
  [counted(executions, 'execution'), counted(steps, 'step'), counted(states, 'state')].join(', ')

/** Figures of the search. A verdict of another command or of an older version may lack some of them. */
const SearchFacts = ({ verdict }: { verdict: Partial<Verdict> }) => {
  const { executions, seconds, discovery, repeated, notRepeated = [] } = verdict
  return (
    <>
      {executions !== undefined && (
        <Fact name="Search">
          {figures(verdict)} in {seconds} s
        </Fact>
      )}
      {discovery && (
        <Fact name="Found">
          in execution {discovery.execution}, after {discovery.seconds} s, in {counted(discovery.steps, 'step')}
        </Fact>
      )}
      {repeated !== undefined && (
        <Fact name="Repeated">{repeated ? 'yes, from the start, to the same end' : 'no'}</Fact>
      )}
      {notRepeated.map(line => (
        <Fact key={line} name="Not repeated">
          {line}
        </Fact>
      ))}
    </>
  )
}

const Fact = ({ name, children }: { name: string; children: preact.ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
