/**
 * The system calls a sandbox may not make, as a classic BPF program for `bwrap --seccomp`.
 * Everything that reaches for the kernel's management (namespaces, mounts, tracing, modules, keys,
 * eBPF, raw devices) answers EPERM; sockets are limited to the ordinary families.
 */
type Arch = 'x64' | 'arm64'

/** Numbers on x64 and arm64; a call that an architecture lacks has none. */
const denied: Record<string, readonly [x64: number | undefined, arm64: number | undefined]> = {
  acct: [163, 89],
  add_key: [248, 217],
  adjtimex: [159, 171],
  bpf: [321, 280],
  chroot: [161, 51],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  delete_module: [176, 106],
  fanotify_init: [300, 262],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  init_module: [175, 105],
  ioperm: [173, undefined],
  iopl: [172, undefined],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  lookup_dcookie: [212, 18],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  name_to_handle_at: [303, 264],
  nfsservctl: [180, 42],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  perf_event_open: [298, 241],
  personality: [135, 92],
  pidfd_getfd: [438, 438],
  pivot_root: [155, 41],
  process_madvise: [440, 440],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  quotactl: [179, 60],
  reboot: [169, 142],
  request_key: [249, 218],
  setdomainname: [171, 162],
  sethostname: [170, 161],
  setns: [308, 268],
  settimeofday: [164, 170],
  swapoff: [168, 225],
  swapon: [167, 224],
  syslog: [103, 116],
  umount2: [166, 39],
  unshare: [272, 97],
  userfaultfd: [323, 282],
  vhangup: [153, 58],
}

const arches: Record<Arch, { audit: number; clone: number; clone3: number; socket: number }> = {
  x64: { audit: 0xc000003e, clone: 56, clone3: 435, socket: 41 },
  arm64: { audit: 0xc00000b7, clone: 220, clone3: 435, socket: 198 },
}

/** CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET and TIME. */
const newNamespaces = 0x7e020080
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. A virtual machine's AF_VSOCK ignores namespaces. */
const families = [1, 2, 10, 16]

const errno = (code: number) => 0x00050000 | code
const allow = 0x7fff0000
const kill = 0x80000000
const eperm = 1
const enosys = 38
const eafnosupport = 97

interface Instruction {
  code: number
  k: number
  /** How many instructions to leap over when the test holds, and when it does not. */
  yes?: number
  no?: number
}

const load = (offset: number): Instruction => ({ code: 0x20, k: offset })
const answer = (value: number): Instruction => ({ code: 0x06, k: value })
const equals = (k: number, yes: number, no: number): Instruction => ({ code: 0x15, k, yes, no })
const atLeast = (k: number, yes: number, no: number): Instruction => ({ code: 0x35, k, yes, no })
const hasAny = (k: number, yes: number, no: number): Instruction => ({ code: 0x45, k, yes, no })

const number = 0
const arch = 4
const firstArgument = 16

/** The filter as bytes; undefined on a processor it has no numbers for. */
export const seccompFilter = (processor: string): Buffer | undefined => {
  if (processor !== 'x64' && processor !== 'arm64') return undefined
  const { audit, clone, clone3, socket } = arches[processor]
  const numbers = Object.values(denied).flatMap((pair) => pair[processor === 'x64' ? 0 : 1] ?? [])
  return assemble([
    load(arch),
    equals(audit, 1, 0),
    answer(kill),
    load(number),
    // The x32 calls of x64 would pass by the numbers below.
    atLeast(0x40000000, 0, 1),
    answer(errno(eperm)),
    ...numbers.flatMap((nr) => [equals(nr, 0, 1), answer(errno(eperm))]),
    // Its flags are behind a pointer; libraries then take clone instead.
    equals(clone3, 0, 1),
    answer(errno(enosys)),
    equals(clone, 0, 3),
    load(firstArgument),
    hasAny(newNamespaces, 0, families.length + 4),
    answer(errno(eperm)),
    equals(socket, 0, families.length + 2),
    load(firstArgument),
    ...families.map((family, index) => equals(family, families.length - index, 0)),
    answer(errno(eafnosupport)),
    answer(allow),
  ])
}

const assemble = (program: Instruction[]): Buffer => {
  const bytes = Buffer.alloc(program.length * 8)
  program.forEach(({ code, k, yes = 0, no = 0 }, index) => {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(yes, index * 8 + 2)
    bytes.writeUInt8(no, index * 8 + 3)
    bytes.writeUInt32LE(k >>> 0, index * 8 + 4)
  })
  return bytes
}
