import { mkdir, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The account a server runs as. */
export interface Identity {
  uid: number
  gid: number
  name: string
  /** A folder it may not pass, and the folders behind it that it is shown nevertheless. */
  barrier?: { at: string; shown: readonly string[] }
}

/** The first account that exists. Undefined when Cove itself is unprivileged: servers then run as Cove. */
export const findIdentity = async (
  names: readonly string[],
  folders: readonly string[],
): Promise<Identity | undefined> => {
  if (process.getuid?.() !== 0) return undefined
  const passwd = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  for (const wanted of names) {
    const entry = passwd.find(([name]) => name === wanted)
    if (!entry) continue
    const identity = { name: wanted, uid: Number(entry[2]), gid: Number(entry[3]) }
    const at = await barrierTo(folders[0] ?? '/', identity)
    if (at === undefined) return identity
    for (const folder of folders) await mkdir(folder, { recursive: true })
    const behind = folders.filter((one) => one.startsWith(`${at}/`))
    const shown = behind.filter((one) => !behind.some((other) => one.startsWith(`${other}/`)))
    return { ...identity, barrier: { at, shown } }
  }
  throw new Error(`None of the accounts ${names.join(', ')} exists to run a server unprivileged.`)
}

/** The topmost folder on the way that the account may not pass: `/root`, say. */
const barrierTo = async (path: string, { uid, gid }: Identity): Promise<string | undefined> => {
  if (path === '/') return undefined
  const above = await barrierTo(dirname(path), { uid, gid, name: '' })
  if (above !== undefined) return above
  const found = await stat(path)
  const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001
  return (found.mode & bit) === 0 ? path : undefined
}

/**
 * A private view of the file system in which the barrier is an empty folder that holds only what is
 * to be shown; nobody else sees it, and nothing on disk changes.
 */
const enter = `set -e
barrier=$1 cwd=$2 uid=$3 gid=$4 shown=$5
shift 5
IFS='
'
mount -t tmpfs -o mode=755,size=64k cove /mnt
n=0
for path in $shown; do
  n=$((n + 1))
  mkdir "/mnt/$n"
  mount --bind "$path" "/mnt/$n"
done
mount -t tmpfs -o mode=755,size=64k cove "$barrier"
n=0
for path in $shown; do
  n=$((n + 1))
  mkdir -p "$path"
  mount --bind "/mnt/$n" "$path"
done
cd "$cwd"
exec setpriv --reuid "$uid" --regid "$gid" --clear-groups --no-new-privs -- "$@"`

/** The command line that runs another as the account, past its barrier. */
export const pastBarrier = (
  identity: Identity,
  argv: readonly string[],
  cwd: string | undefined,
): string[] | undefined => {
  if (!identity.barrier) return undefined
  const { at, shown } = identity.barrier
  return [
    ...['unshare', '--mount', '--propagation', 'private', '--', 'sh', '-c', enter, 'sh'],
    ...[at, cwd ?? '/', String(identity.uid), String(identity.gid), shown.join('\n')],
    ...argv,
  ]
}
