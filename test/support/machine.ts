// A Linux machine of its own, for documents that are run as written: this machine's files below a layer that is thrown away, and systemd.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT, type Running, start } from './command.ts';
import { ON_DISK } from './stores.ts';
import { becomes, until } from './waiting.ts';

const SYSTEMD = '/lib/systemd/systemd';
/** systemd keeps its units' processes here. Machines with this hierarchy alone are able to run a second systemd as it is done here. */
const GROUPS = '/sys/fs/cgroup/systemd';
const NAMESPACES = ['--mount', '--pid', '--fork', '--uts', '--net', '--ipc', '--cgroup', '--kill-child'];
/** Units that would change the kernel of the machine below. */
const MASKED = [
  'systemd-modules-load',
  'systemd-sysctl',
  'systemd-remount-fs',
  'systemd-udevd',
  'systemd-udev-trigger',
];

/** The shell that makes the machine's root and becomes its systemd. `$1` is the folder of the throw-away layer. */
const BOOT = `
set -e
mount --make-rprivate /
root=$1/root
mount -t overlay -o lowerdir=/,upperdir=$1/upper,workdir=$1/work overlay $root
mount -t proc proc $root/proc
mount -t sysfs -o ro sysfs $root/sys
for folder in run tmp dev; do mount -t tmpfs tmpfs $root/$folder; done
chmod 1777 $root/tmp
for device in null zero full random urandom tty; do touch $root/dev/$device; mount --bind /dev/$device $root/dev/$device; done
mkdir $root/dev/pts $root/dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts $root/dev/pts
ln -s pts/ptmx $root/dev/ptmx
ln -s /proc/self/fd $root/dev/fd
mount -t tmpfs tmpfs $root/dev/shm
mount -t tmpfs tmpfs $root/sys/fs/cgroup
mkdir $root/sys/fs/cgroup/systemd
mount -t cgroup -o none,name=systemd cgroup $root/sys/fs/cgroup/systemd
for folder in var/lib/counterfoil var/backups; do mkdir -p $root/$folder $1/$folder; mount --bind $1/$folder $root/$folder; done
mkdir -p $root/opt/counterfoil/node_modules
cp -a $1/clone/. $root/opt/counterfoil/
mount --bind ${ROOT}node_modules $root/opt/counterfoil/node_modules
mount -o remount,bind,ro $root/opt/counterfoil/node_modules
ip link set lo up
cd $root
pivot_root . mnt # a chroot may make no user namespaces, which PrivateUsers= of a unit needs
umount -l /mnt
exec /usr/bin/env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin ${SYSTEMD} --system --unit=multi-user.target
`;

/** Why no machine can be made here; false where one can. */
export function noMachine(): string | false {
  if (process.getuid?.() !== 0) return 'a machine of its own wants root';
  if (!existsSync(SYSTEMD) || !existsSync(join(GROUPS, 'cgroup.procs')))
    return 'no systemd, or control groups of another kind';
  return (
    spawnSync('unshare', [...NAMESPACES, 'true']).status !== 0 && 'this kernel lets nobody make namespaces'
  );
}

export interface Machine {
  /** Starts a program in it, with nothing in its environment but `env`. */
  start(program: string, args: readonly string[], env: Record<string, string>): Running;
  /** Ends it, and everything that runs in it. */
  remove(): Promise<void>;
}

/** Boots a machine with a clone in /opt/counterfoil, as docs/operating/install.md asks for. `programs` are put into /usr/local/bin. */
export async function bootMachine(programs: Readonly<Record<string, string>> = {}): Promise<Machine> {
  const folder = mkdtempSync(join(ON_DISK, 'counterfoil-machine-'));
  const group = join(GROUPS, basename(folder));
  for (const name of [
    'upper/etc/systemd/system',
    'upper/usr/local/bin',
    'work',
    'root',
    'var/lib/counterfoil',
    'var/backups',
  ])
    mkdirSync(join(folder, name), { recursive: true });
  for (const unit of MASKED)
    symlinkSync('/dev/null', join(folder, 'upper/etc/systemd/system', `${unit}.service`));
  for (const [name, text] of Object.entries(programs))
    writeFileSync(join(folder, 'upper/usr/local/bin', name), text, { mode: 0o755 });
  for (const file of execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n'))
    cpSync(join(ROOT, file), join(folder, 'clone', file), { recursive: true });
  chmodSync(folder, 0o755);
  mkdirSync(group);
  writeFileSync(join(folder, 'boot.sh'), BOOT);
  const inGroup = `echo $$ > ${group}/cgroup.procs; exec unshare ${NAMESPACES.join(' ')} /bin/sh ${folder}/boot.sh ${folder}`;
  const { child, ended } = start('/bin/sh', ['-c', inGroup]);
  const init = await until(
    () => readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim(),
    (pid) => pid !== '' && readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'systemd',
  );
  const inside = ['--target', init, ...'-m -p -u -n -i -C -r -w'.split(' '), '/usr/bin/env', '-i'];
  const machine: Machine = {
    start: (program, args, env) =>
      start('nsenter', [
        ...inside,
        ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
        program,
        ...args,
      ]),
    async remove() {
      process.kill(Number(init), 'SIGKILL');
      await ended;
      for (const below of globSync('**/', { cwd: group }).toSorted().toReversed())
        rmdirSync(join(group, below));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await becomes(
    0,
    () => spawnSync('nsenter', [...inside, 'systemctl', 'is-system-running', '--wait']).status,
  );
  return machine;
}
