import { defineConfig } from 'vitepress'
import { tabs } from './tabs.mts'

/** The documentation as a site: `npm run docs` builds it into site/, and fails where a link leads nowhere. */
export default defineConfig({
  title: 'lastnail',
  description: 'Checks unmodified multi-process services.',
  outDir: 'site',
  cacheDir: 'node_modules/.cache/vitepress',
  srcExclude: ['**/node_modules/**', 'dist/**', 'test/**', 'site/**', '**/.lastnail/**'],
  rewrites: { 'README.md': 'index.md' },
  cleanUrls: true,
  vite: { plugins: [tabs()] },
  // Files that are no pages: they are read in the repository.
  ignoreDeadLinks: [/\/docker\/(Dockerfile|campaign\/)/],
  markdown: {
    // `{{n2.address}}` is a placeholder of ours, and none of the site's templates.
    config: ({ renderer: { rules } }) => {
      const before = rules.code_inline!
      rules.code_inline = (...line) => before(...line).replace('<code', '<code v-pre')
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: [
      {
        text: 'Begin',
        items: [
          { text: 'What it is', link: '/' },
          { text: 'Tutorial', link: '/docs/tutorial' },
          { text: 'Concepts', link: '/docs/concepts' },
          { text: 'How it works', link: '/docs/how-it-works' },
        ],
      },
      {
        text: 'Say what there is',
        items: [
          { text: 'The configuration', link: '/docs/configuration' },
          { text: 'Every field', link: '/docs/fields' },
          { text: 'Properties', link: '/docs/properties' },
          { text: 'What a node has, and may', link: '/docs/nodes' },
          { text: 'What clients saw', link: '/docs/histories' },
          { text: 'Power failures', link: '/docs/power' },
          { text: 'Pauses', link: '/docs/pauses' },
          { text: 'Disks that fail', link: '/docs/disks' },
          { text: 'Clocks that jump', link: '/docs/clock-jumps' },
          { text: 'Names that change', link: '/docs/names' },
          { text: 'Messages in parts', link: '/docs/parts' },
          { text: 'Orders of threads', link: '/docs/threads' },
          { text: 'What is outside', link: '/docs/outside' },
          { text: 'Containers', link: '/docs/containers' },
        ],
      },
      {
        text: 'Use it',
        items: [
          { text: 'Commands', link: '/docs/commands' },
          { text: 'Every option', link: '/docs/options' },
          { text: 'Every kind of step', link: '/docs/kinds' },
          { text: 'Searches', link: '/docs/searches' },
          { text: 'The report and the debugger', link: '/docs/report' },
          { text: 'Emulate an internet', link: '/docs/emulation' },
          { text: 'Guard a service', link: '/docs/steering' },
          { text: 'Topologies', link: '/docs/topologies' },
          { text: 'Campaigns', link: '/docs/campaigns' },
          { text: 'In CI', link: '/docs/ci' },
          { text: 'Troubleshooting', link: '/docs/troubleshooting' },
        ],
      },
      {
        text: 'Know what it says',
        items: [
          { text: 'What a node sees', link: '/docs/boundary' },
          { text: 'Limits', link: '/docs/limits' },
          { text: 'System calls', link: '/docs/system-calls' },
          { text: 'Beside other tools', link: '/docs/comparison' },
          { text: 'The code', link: '/docs/code' },
          { text: 'What is measured', link: '/bench/README' },
        ],
      },
    ],
  },
})
