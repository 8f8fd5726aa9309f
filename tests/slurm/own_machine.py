"""A machine of its own within this one, in which a test starts daemons as it likes.

The test runs again in namespaces of Linux: with process numbers, mounts, a network and a host name
that nobody else sees. Its processes end when it ends, however it ends, and its mounts go with them:
there is nothing to clean up, and two such tests do not meet.

Exit status 77 means skipped: this is not Debian, or not root, or packages are missing, or the
system allows no namespaces.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
MARK = "ZHALO_TEST_OWN_MACHINE"
# Who dies with its parent takes all processes of its namespace along.
UNSHARE = ("unshare", "--fork", "--kill-child", "--pid", "--mount-proc", "--mount", "--uts")
BRIDGE = "bridge"  # by which the machine and its nodes are one network


def is_debian():
    path = Path(os.environ.get("ZHALO_OS_RELEASE", "/etc/os-release"))
    return path.is_file() and re.search(r"^ID=debian$", path.read_text(), re.MULTILINE) is not None


def what_lacks(commands):
    """Why no machine with these commands can be made here, or None."""
    if not is_debian():
        return "this is not Debian"
    if os.geteuid() != 0:
        return "a cluster of its own needs root"
    missing = [name for name in commands if not shutil.which(name)]
    if missing:
        return f"{', '.join(missing)}: missing (Debian: slurm-wlm munge iproute2)"
    trial = subprocess.run([*UNSHARE, "--net", "true"], capture_output=True, text=True, check=False)
    return f"no namespaces: {trial.stderr.strip()}" if trial.returncode else None


def enter(commands):
    """Goes on only in a machine of its own; these commands must be there."""
    if os.environ.pop(MARK, None) and os.getpid() == 1:
        return
    if reason := what_lacks(commands):
        print(f"skipped: {reason}", flush=True)
        sys.exit(SKIPPED)
    os.execvpe(
        UNSHARE[0],
        [*UNSHARE, "--net", sys.executable, "-B", *sys.argv],
        {**os.environ, MARK: "yes"},
    )


def run(*command):
    subprocess.run([*map(str, command)], check=True, stdin=subprocess.DEVNULL)


def mount(*arguments):
    run("mount", *arguments)


def address(number):
    """Of the machine itself (0), and of its nodes."""
    return f"10.0.0.{number + 1}"


def start_network():
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", BRIDGE, "type", "bridge")
    run("ip", "address", "add", f"{address(0)}/24", "dev", BRIDGE)
    run("ip", "link", "set", BRIDGE, "up")


def connect(process, name):
    """Gives the network that a process has for itself an interface eth0. `name`: the other
    end's."""
    run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", process)
    run("ip", "link", "set", name, "master", BRIDGE, "up")


def mount_point_beside(*folders):
    """A folder that every Debian has, in which none of these is: what is mounted there hides
    none."""
    for mount_point in map(Path, ("/srv", "/mnt", "/media")):
        if not any(folder.is_relative_to(mount_point) for folder in folders):
            return mount_point
    raise RuntimeError(f"no mount point for a shared folder beside {folders}")


def prepare(names, shown):
    """Names the machine names[0]; the other names are its nodes'. Returns an empty folder, in
    memory, that also shows other folders: shown[name] as `name`."""
    start_network()
    socket.sethostname(names[0])
    shared = mount_point_beside(*shown.values(), Path(sys.prefix))
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", shared)
    for name, folder in shown.items():
        (shared / name).mkdir()
        mount("--bind", folder, shared / name)
    lines = [f"{address(number)} {name}\n" for number, name in enumerate(names)]
    (shared / "hosts").write_text("127.0.0.1 localhost\n" + "".join(lines))
    mount("--bind", shared / "hosts", "/etc/hosts")
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    return shared
