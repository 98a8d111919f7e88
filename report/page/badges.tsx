import type { Badge } from '../model/story.ts'

export const Badges = ({ badges }: { badges: readonly Badge[] }) => (
  <span class="badges">
    {badges.map(({ tone, text }) => (
      <span key={text} class={`badge ${tone}`}>
        {text}
      </span>
    ))}
  </span>
)
