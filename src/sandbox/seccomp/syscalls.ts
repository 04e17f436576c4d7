/**
 * System call numbers as the kernel's own headers give them, `[x86_64, arm64]`. Calls added since 2019 share one number.
 * `undefined`: the call does not exist there.
 */
export type CallNumbers = readonly [x64: number | undefined, arm64: number | undefined];
const same = (number: number): CallNumbers => [number, number];

/** Mounts and namespaces: the plan would be worth nothing if a command could change it. */
export const MOUNT_CALLS: readonly CallNumbers[] = [
  [165, 40], // mount
  [166, 39], // umount2
  [155, 41], // pivot_root
  [161, 51], // chroot
  same(428), // open_tree
  same(429), // move_mount
  same(430), // fsopen
  same(431), // fsconfig
  same(432), // fsmount
  same(433), // fspick
  same(442), // mount_setattr
  same(467), // open_tree_attr
  [308, 268], // setns
];

/** Kernel surface no build or test needs. */
export const SURFACE_CALLS: readonly CallNumbers[] = [
  [321, 280], // bpf
  [298, 241], // perf_event_open
  [323, 282], // userfaultfd
  [300, 262], // fanotify_init
  [212, 18], // lookup_dcookie
  [304, 265], // open_by_handle_at
];

/** Calls that change the machine. */
export const MACHINE_CALLS: readonly CallNumbers[] = [
  [246, 104], // kexec_load
  [320, 294], // kexec_file_load
  [175, 105], // init_module
  [313, 273], // finit_module
  [176, 106], // delete_module
  [169, 142], // reboot
  [167, 224], // swapon
  [168, 225], // swapoff
  [163, 89], // acct
  [179, 60], // quotactl
  same(443), // quotactl_fd
  [103, 116], // syslog
  [164, 170], // settimeofday
  [227, 112], // clock_settime
  [170, 161], // sethostname
  [171, 162], // setdomainname
  [153, 58], // vhangup
  [180, 42], // nfsservctl
  [172, undefined], // iopl
  [173, undefined], // ioperm
  [134, undefined], // uselib
];

/** io_uring performs socket calls that the filter never sees; keyrings are not namespaced. Both look absent. */
export const ABSENT_CALLS: readonly CallNumbers[] = [
  same(425), // io_uring_setup
  same(426), // io_uring_enter
  same(427), // io_uring_register
  [248, 217], // add_key
  [249, 218], // request_key
  [250, 219], // keyctl
  same(435), // clone3: its flags lie in memory; libc falls back to clone
];

export const DEBUGGER_CALLS: readonly CallNumbers[] = [
  [101, 117], // ptrace
  [310, 270], // process_vm_readv
  [311, 271], // process_vm_writev
  same(438), // pidfd_getfd
  [312, 272], // kcmp
];

export const CONNECTION_CALLS: readonly CallNumbers[] = [
  [42, 203], // connect
  [49, 200], // bind
  [50, 201], // listen
  [43, 202], // accept
  [288, 242], // accept4
];

/** Changes of mode, owner, times and attributes: writes that Landlock does not handle. */
export const METADATA_CALLS: readonly CallNumbers[] = [
  [90, undefined], // chmod
  [91, 52], // fchmod
  [268, 53], // fchmodat
  same(452), // fchmodat2
  [92, undefined], // chown
  [93, 55], // fchown
  [94, undefined], // lchown
  [260, 54], // fchownat
  [132, undefined], // utime
  [235, undefined], // utimes
  [261, undefined], // futimesat
  [280, 88], // utimensat
  [188, 5], // setxattr
  [189, 6], // lsetxattr
  [190, 7], // fsetxattr
  [197, 14], // removexattr
  [198, 15], // lremovexattr
  [199, 16], // fremovexattr
  same(463), // setxattrat
  same(466), // removexattrat
  same(469), // file_setattr
];

export const CLONE: CallNumbers = [56, 220];
export const UNSHARE: CallNumbers = [272, 97];
export const IOCTL: CallNumbers = [16, 29];
export const SOCKET: CallNumbers = [41, 198];
export const SOCKETPAIR: CallNumbers = [53, 199];
