/** Members of etcd, found by each other under these names, each with its own defaults beside these options. */
export const etcdMembers = (
  program: string,
  names: readonly string[],
  options: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
) => {
  const cluster = names.map(name => `${name}=http://{{${name}.address}}:2380`).join(',')
  const member = (name: string) => {
    const [peer, client] = [`http://{{${name}.address}}:2380`, `http://{{${name}.address}}:2379`]
    const own = [
      `--name=${name}`,
      `--data-dir=/tmp/${name}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--initial-cluster=${cluster}`,
    ]
    return { command: [program, ...own, ...options], env, listens: 2379 }
  }
  return Object.fromEntries(names.map(name => [name, member(name)]))
}
