"""A machine of its own within this one, in which a test starts daemons as it likes.

The test runs again in namespaces of Linux: with process numbers, mounts, a network and a host name
that nobody else sees. Its processes end when it ends, however it ends, and its mounts go with them:
there is nothing to clean up, and two such tests do not meet.

Exit status 77 means skipped: this is not Debian, or not root, or packages are missing, or the system
allows no namespaces.
"""
import fcntl
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
MARK = "ZHALO_TEST_OWN_MACHINE"
# Who dies with its parent takes all processes of its namespace along.
UNSHARE = ("unshare", "--fork", "--kill-child", "--pid", "--mount-proc", "--mount", "--uts")
# For ioctl: of a network interface.
GET_FLAGS, SET_FLAGS, SET_ADDRESS, IS_UP = 0x8913, 0x8914, 0x8916, 1
ADDRESS = "10.0.0.1"


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
        return f"{', '.join(missing)}: missing (Debian: slurm-wlm munge)"
    trial = subprocess.run([*UNSHARE, "--net", "true"], capture_output=True, text=True, check=False)
    return f"no namespaces: {trial.stderr.strip()}" if trial.returncode else None


def enter(commands):
    """Goes on only in a machine of its own; these commands must be there."""
    if os.environ.pop(MARK, None) and os.getpid() == 1:
        return
    if reason := what_lacks(commands):
        print(f"skipped: {reason}", flush=True)
        sys.exit(SKIPPED)
    os.execvpe(UNSHARE[0], [*UNSHARE, "--net", sys.executable, "-B", *sys.argv],
               {**os.environ, MARK: "yes"})


def mount(*arguments):
    subprocess.run(["mount", *map(str, arguments)], check=True, stdin=subprocess.DEVNULL)


def start_network():
    """lo is there, but down. Its address becomes one that does not look like its own: where there is
    127.0.0.1 alone, getaddrinfo(AI_ADDRCONFIG) finds nothing, and with it no daemon opens a port."""
    with socket.socket() as any_socket:
        interface = struct.pack("16s24x", b"lo")
        (flags,) = struct.unpack_from("16xh", fcntl.ioctl(any_socket, GET_FLAGS, interface))
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh22x", b"lo", flags | IS_UP))
        address = socket.inet_aton(ADDRESS)
        fcntl.ioctl(any_socket, SET_ADDRESS,
                    struct.pack("16sHH4s16x", b"lo", socket.AF_INET, 0, address))


def place_beside(*folders):
    """A folder that every Debian has, in which none of these is: what is mounted there hides none."""
    for place in map(Path, ("/srv", "/mnt", "/media")):
        if not any(folder.is_relative_to(place) for folder in folders):
            return place
    raise RuntimeError(f"no place for a shared folder beside {folders}")


def prepare(names, shown):
    """Names the machine names[0]; all names are its own address. Returns an empty folder, in memory,
    that also shows other folders: shown[name] as `name`."""
    start_network()
    socket.sethostname(names[0])
    place = place_beside(*shown.values(), Path(sys.prefix))
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", place)
    for name, folder in shown.items():
        (place / name).mkdir()
        mount("--bind", folder, place / name)
    (place / "hosts").write_text(f"{ADDRESS} localhost {' '.join(names)}\n")
    mount("--bind", place / "hosts", "/etc/hosts")
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    return place
