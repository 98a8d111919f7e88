import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

/**
 * What other users may do to the directory that everybody can write to, before root runs this tool there. Each test has a
 * mount namespace with memory of its own in place of the machine's.
 */
const repository = join(import.meta.dirname, '../../..')
const user = 65_534

/** Makes a run directory as a run does, and says its path, or why it has none. */
const run = `
  const { createRunDirectory } = await import('${repository}/dist/harness/files/run-directory.js')
  try { console.log(createRunDirectory()) } catch (error) { console.log(error.name + ': ' + error.message) }
  if (process.argv[1]) await new Promise(resolve => process.stdin.once('data', resolve))
`

const prelude = `set -e
  mount -t tmpfs -o mode=1777 lastnail-test /dev/shm
  mount -t tmpfs -o mode=1777 lastnail-test /mnt
  other() { setpriv --reuid=${user} --regid=${user} --clear-groups "$@"; }
  run() { ${process.execPath} --input-type=module -e "$RUN" "$@"; }
  lastnail() { ${process.execPath} ${repository}/bin/lastnail.js "$@"; }
  root=/dev/shm/lastnail
  sleep 0 & wait $!; gone=$!
`
const environment = { ...process.env, RUN: run }

/** What a shell script prints, in such a place. */
const inOwnMemory = (script: string): string => {
  const { stdout, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', prelude + script], {
    encoding: 'utf8',
    env: environment,
  })
  return stdout + stderr
}

describe.skipIf(process.getuid!() !== 0)('the directory of all runs (needs root)', () => {
  const unsafe = (why: string) =>
    `UnsafeRunRoot: /dev/shm/lastnail is not safe for run directories: ${why}; remove it\n`

  test('is made for its user alone', () => {
    expect(inOwnMemory('run; stat -c "%a %u" $root')).toMatch(/^\/dev\/shm\/lastnail\/\d+-\d+-0\n700 0\n$/)
    expect(inOwnMemory('mkdir -m 755 $root; run >/dev/null; stat -c %a $root')).toBe('700\n')
  })

  test('is refused where another user has made it: nothing in it is believed, nothing removed', () => {
    const forged = `other mkdir $root; other mkdir $root/$gone-1-0
      echo '{"origin":"http://127.0.0.1:1","token":"x"}' >$root/$gone-1-0/control.json`
    expect(inOwnMemory(`${forged}; run; ls $root | wc -l`)).toBe(`${unsafe(`it belongs to user ${user}`)}1\n`)
    const line = unsafe(`it belongs to user ${user}`).replace('UnsafeRunRoot', 'lastnail')
    expect(inOwnMemory(`${forged}; lastnail control list || echo $?`)).toBe(`69\n${line}`)
    const config = `cp ${repository}/test/cli/fixtures/* /mnt; cd /mnt`
    expect(inOwnMemory(`${forged}; ${config}; lastnail check adders.config.ts || echo $?`)).toBe(`69\n${line}`)
  })

  test('is refused where others may write to it, or rename it', () => {
    expect(inOwnMemory('mkdir -m 777 $root; run')).toBe(unsafe('other users may write to it'))
    expect(inOwnMemory('mkdir $root; chmod 1777 $root; run')).toBe(unsafe('other users may write to it'))
    expect(inOwnMemory('chmod 777 /dev/shm; run')).toMatch(
      /^UnsafeRunRoot: \/dev\/shm is not safe .*: .*; chmod \+t \/dev\/shm\n$/,
    )
    expect(inOwnMemory(`chown ${user} /dev/shm; run`)).toBe(
      `UnsafeRunRoot: /dev/shm is not safe for run directories: user ${user}, whose it is, may rename what is in it\n`,
    )
  })

  test('a link or a file in place of the directory of all runs is refused', () => {
    const victim = 'mkdir -p /mnt/victim/$gone-1-0'
    for (const trick of [`${victim}; other ln -s /mnt/victim $root`, `${victim}; other touch $root`])
      expect(inOwnMemory(`${trick}; run; ls /mnt/victim | wc -l`)).toBe(`${unsafe('it is no directory')}1\n`)
  })
})

describe.skipIf(process.getuid!() !== 0)('in the directory of all runs (needs root)', () => {
  test('links and files in place of run directories are left alone, with what they lead to', () => {
    const tricks = `mkdir -m 700 $root; mkdir /mnt/victim; touch /mnt/victim/kept
      ln -s /mnt/victim $root/$gone-1-0; ln -s /mnt/nowhere $root/$gone-1-1; touch $root/$gone-1-2; mkfifo $root/$gone-1-3`
    expect(inOwnMemory(`${tricks}; run >/dev/null; ls $root | wc -l; ls /mnt/victim`)).toBe('4\nkept\n')
  })

  test('what is not named as a run directory is left alone', () => {
    const names = [
      'a',
      '1-2',
      '1-1-0-0',
      '0-1-0',
      '1e3-1-0',
      '0x1-1-0',
      ' 1-1-0',
      '1-1-0 ',
      '-rf',
      '99999999999-1-0',
      '*',
      '1-1-0\n1-1-0',
    ]
    const made = names.map(name => `mkdir -p "$root/${name}/full"`).join('\n')
    expect(inOwnMemory(`mkdir -m 700 $root; ${made}\n run >/dev/null; ls --quoting-style=c $root | wc -l`)).toBe(
      `${names.length}\n`,
    )
  })

  test('what is of a process that lives is left alone, what is named for an id that is used again is not', () => {
    const start = '$(sed "s/.*) //" /proc/1/stat | cut -d" " -f20)'
    expect(inOwnMemory(`mkdir -p -m 700 $root $root/1-${start}-0 $root/1-1-0; run >/dev/null; ls $root`)).toMatch(
      /^1-\d+-0\n$/,
    )
  })

  test('what a killed run left is removed, whatever it holds, and nothing that it leads to', () => {
    const left = `mkdir -p -m 700 $root $root/$gone-1-0/a; cd $root/$gone-1-0
      mkdir /mnt/victim; touch /mnt/victim/kept; ln -s /mnt/victim link; ln -s /mnt/victim a/link
      touch -- "$(printf 'odd\\377name')" '-rf' "$(printf 'new\\nline')"; mkdir -m 0 a/closed; mkfifo a/fifo
      mkdir mounted; mount --bind /mnt/victim mounted
      name=$(printf '%0200d' 0); for i in $(seq 40); do mkdir $name; cd -P $name; done; cd /`
    // Only what is mounted there stays.
    const printed = inOwnMemory(`${left}; run >/dev/null; cd $root; find . -mindepth 2; ls /mnt/victim`)
    expect(printed).toMatch(/^(\.\/\d+-1-0\/mounted)\n\1\/kept\nkept\n$/)
  })

  test('a process of a stranger lives on, however its mounts are called', () => {
    const forge = (place: string) => `
      other mkdir -p ${place}
      setpriv --reuid=${user} --regid=${user} --clear-groups unshare --user --map-root-user --mount --pid --fork --kill-child sh -c '
        mkdir -p "$0/lastnail/$1-1-0/upper" "$0/lastnail/$1-1-0/work" "$0/lower" "$0/merged"
        mount --bind "$0/lastnail/$1-1-0" "$0/lastnail/$1-1-0"
        mount -t tmpfs t /dev/shm; mkdir -p /dev/shm/lastnail/$1-1-0/upper; mount --bind /dev/shm/lastnail/$1-1-0/upper /mnt
        echo ready >&3; exec sleep 60' ${place} $gone 3>/mnt/ready &
      stranger=$!; while ! grep -q ready /mnt/ready 2>/dev/null; do sleep 0.02; done
      mkdir -p -m 700 $root $root/$gone-1-0/upper; run >/dev/null; ls $root | wc -l
      kill -0 $stranger && echo alive; kill -9 $stranger`
    for (const place of ['/mnt/forged', '/dev/shm/forged']) expect(inOwnMemory(forge(place))).toContain('0\nalive\n')
  })

  // What is in that namespace ends some time after the process that is waited for here.
  test('a run of another pid namespace keeps its directory until it ends', () => {
    const held = `unshare --pid --fork --kill-child --mount-proc sh -c 'sleep 60 & "$@"' sh ${process.execPath} --input-type=module -e "$RUN" stay </mnt/never >/dev/null &`
    expect(
      inOwnMemory(`mkfifo /mnt/never; ${held}
        holder=$!; exec 9>/mnt/never; while ! ls $root/* >/dev/null 2>&1; do sleep 0.05; done; sleep 0.5
        run >/dev/null; ls $root | wc -l; kill -9 $holder; wait $holder || true
        for try in $(seq 100); do run >/dev/null; [ "$(ls $root)" ] || break; sleep 0.1; done; ls $root | wc -l`),
    ).toMatch(/^1\n0\n/)
  })
})
