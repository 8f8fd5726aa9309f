"""A Slurm cluster of several nodes on one machine: a controller, and a daemon per node.

A node has its own process numbers, host name, address, /tmp and /dev/shm, as real nodes have: its
ranks share memory with nobody else's, and to kill it is to kill all of its processes at once. All
nodes see the rest of the file system. They may have more cores and devices in Slurm's books than
the machine has.
"""

import itertools
import os
import re
import subprocess
import time
from pathlib import Path

import own_machine

COMMANDS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scancel", "sinfo", "scontrol", "ip")
START_SECONDS = 60
FIRST_PORT = 17001
KILL_WAIT = 5  # seconds between SIGTERM and SIGKILL

CONFIGURATION = """\
ClusterName=zhalo
SlurmctldHost=head
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
GresTypes=gpu
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/head.pid
SlurmdPidFile={folder}/%n.pid
SlurmdSpoolDir={folder}/spool.%n
MessageTimeout=5
SlurmdTimeout={slurmd_timeout}
KillWait={kill_wait}
"""
NODE = """
set -e
echo {name} >/proc/sys/kernel/hostname
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
ip link set lo up
until ip link set eth0 up 2>/dev/null; do sleep 0.02; done
ip address add {address}/24 dev eth0
{policy} slurmd -D -N {name} &
wait
"""


def wait_until(condition, seconds, what):
    """The first result of `condition` that is true."""
    limit = time.monotonic() + seconds
    while not (result := condition()):
        if time.monotonic() > limit:
            raise TimeoutError(f"{what}: not within {seconds} s")
        time.sleep(0.02)
    return result


def round_robin():
    """What starts a program so that each of its processes that waits lets all others go first.
    Ranks ask again and again whether a message is there: 32 of them take 1.3 s on two cores so, and
    27 s otherwise. Empty where that is not allowed."""
    policy = ["chrt", "--rr", "1"]
    trial = subprocess.run([*policy, "true"], capture_output=True, check=False)
    return "" if trial.returncode else " ".join(policy)


class Cluster:
    """In an empty folder that all nodes see. `cpus` and `gpus`: of each node. `crowded`: it will
    have many more ranks than the machine has cores. `slurmd_timeout`: seconds until a node that
    does not answer is given up."""

    def __init__(self, folder, num_nodes, cpus, *, gpus=0, crowded=False, slurmd_timeout=60):
        self.folder = folder
        self.slurmd_timeout = slurmd_timeout
        self.policy = round_robin() if crowded else ""
        self.names = [f"n{number + 1}" for number in range(num_nodes)]
        self.daemons = {}
        self.cables = itertools.count()
        (folder / "log").mkdir()
        (folder / "state").mkdir()
        self.configuration = folder / "slurm.conf"
        self.configuration.write_text(self.describe(cpus, gpus))
        devices = [folder / f"gpu{number}" for number in range(gpus)]
        for device in devices:
            device.touch()  # Slurm counts them, and never looks into them
        (folder / "gres.conf").write_text(
            "".join(f"Name=gpu File={device}\n" for device in devices)
        )

    def describe(self, cpus, gpus):
        lines = [
            f"NodeName={name} Port={FIRST_PORT + number} CPUs={cpus}"
            + (f" Gres=gpu:{gpus}" if gpus else "")
            for number, name in enumerate(self.names)
        ]
        lines.append("PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP")
        return (
            CONFIGURATION.format(
                folder=self.folder, slurmd_timeout=self.slurmd_timeout, kill_wait=KILL_WAIT
            )
            + "\n".join(lines)
            + "\n"
        )

    def environment(self):
        """For commands of Slurm, and for what they start."""
        foreign = ("SLURM_", "SBATCH_", "SALLOC_", "PMIX_", "OMPI_", "PRTE_")
        ours = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        # There are more ranks and threads than cores, so who waits must make room.
        return {
            **ours,
            "SLURM_CONF": str(self.configuration),
            "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_btl": "tcp,vader,self",
            "OMPI_MCA_btl_tcp_if_include": "eth0",
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMP_WAIT_POLICY": "passive",
        }

    def ask(self, *command):
        """Output of a command of Slurm, which may fail."""
        return subprocess.run(
            command,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        ).stdout

    def start(self):
        self.start_munge()
        self.start_daemon("head", ["slurmctld", "-D"])
        for name in self.names:
            self.start_node(name)
        self.wait_for_nodes()

    def start_munge(self):
        """By which Slurm's messages prove whose they are."""
        run, key = Path("/run/munge"), self.folder / "munge.key"
        run.mkdir(mode=0o755)
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        socket = run / "munge.socket.2"
        self.start_daemon(
            "munge",
            [
                "munged",
                "--foreground",
                f"--key-file={key}",
                f"--socket={socket}",
                f"--pid-file={run / 'pid'}",
                f"--seed-file={run / 'seed'}",
            ],
        )
        wait_until(socket.exists, START_SECONDS, "munged opens its socket")

    def start_node(self, name):
        (self.folder / f"spool.{name}").mkdir(exist_ok=True)
        address = own_machine.address(self.names.index(name) + 1)
        script = NODE.format(name=name, policy=self.policy, address=address)
        self.start_daemon(name, [*own_machine.UNSHARE, "--net", "sh", "-c", script])
        process = self.daemons[name].pid

        def has_own_network():
            return os.readlink(f"/proc/{process}/ns/net") != os.readlink("/proc/self/ns/net")

        wait_until(has_own_network, START_SECONDS, f"{name} has a network of its own")
        own_machine.connect(process, f"cable{next(self.cables)}")

    def start_daemon(self, name, command):
        with open(self.folder / "log" / name, "ab") as log:
            # In a folder that nodes have, too, with their own /tmp: they return to it.
            self.daemons[name] = subprocess.Popen(
                command,
                env=self.environment(),
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                cwd="/",
            )

    def state_of_job(self, number):
        """Slurm's word: COMPLETED, FAILED, CANCELLED, ..."""
        words = self.ask("scontrol", "--oneliner", "show", "job", number)
        return re.search(r"JobState=(\w+)", words)[1]

    def states(self):
        """What the controller thinks of each node."""
        lines = self.ask("sinfo", "--noheader", "--Node", "--format=%N %t").splitlines()
        return dict(line.split() for line in lines if line)

    def wait_for_nodes(self):
        """Until all are free."""
        idle = dict.fromkeys(self.names, "idle")

        def are_idle():
            ended = [name for name, daemon in self.daemons.items() if daemon.poll() is not None]
            if ended:
                raise RuntimeError(f"{ended} ended at once\n{self.logs()}")
            return self.states() == idle

        try:
            wait_until(are_idle, START_SECONDS, "all nodes are idle")
        except TimeoutError as error:
            raise TimeoutError(f"{error}: {self.states()}\n{self.logs()}") from error

    def logs(self):
        """The ends of what all daemons said."""
        return "\n".join(
            f"--- {path.name}\n{path.read_text(errors='replace')[-2000:]}"
            for path in sorted((self.folder / "log").iterdir())
        )

    def processes_of(self, name):
        """Of a node, by the namespace of its process numbers."""
        space = os.readlink(f"/proc/{self.daemons[name].pid}/ns/pid_for_children")
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(entry / "ns/pid") == space:
                    found.append(int(entry.name))
            except OSError:  # has ended
                continue
        return found

    def kill_node(self, name):
        """All of its processes at once, also those that stand still."""
        processes = self.processes_of(name)
        self.daemons[name].kill()
        self.daemons[name].wait()
        wait_until(lambda: not any(map(is_alive, processes)), START_SECONDS, f"{name} has ended")

    def stop(self):
        for daemon in self.daemons.values():
            daemon.kill()
        for daemon in self.daemons.values():
            daemon.wait()


def state_of(process):
    """The letter of /proc for it: R for running, T for stopped, ...; empty if it has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def is_alive(process):
    """A process that waits for its parent to notice its end is not."""
    return state_of(process) not in ("", "Z", "X")
