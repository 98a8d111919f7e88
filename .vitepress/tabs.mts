/**
 * Shows as tabs what stands between `<!-- tabs -->` and `<!-- end of tabs -->`: its blocks of code, each under its file's
 * name. Elsewhere a page has them one after the other, with a line before each.
 */
export const tabs = () => ({
  name: 'tabs',
  enforce: 'pre' as const,
  transform: (page: string, id: string) => (id.endsWith('.md') ? withTabs(page) : undefined),
})

export const withTabs = (page: string): string =>
  page.replaceAll(/<!-- tabs -->([\s\S]*?)<!-- end of tabs -->/g, (_, between: string) => {
    const blocks = between.match(/^```[\s\S]*?^```$/gm) ?? []
    const named = blocks.map(block => block.replace(/^```(\S+) (\S+)/, '```$1 [$2]'))
    return ['::: code-group', ...named, ':::'].join('\n\n')
  })
