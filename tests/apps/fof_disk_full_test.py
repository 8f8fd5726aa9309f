"""fof on a disk that is full: a small tmpfs, which root can mount, or anybody where user namespaces
are allowed.

fof_disk_full_test.py PROGRAM DATA SNAPSHOTS     exit status 77 if a tmpfs cannot be mounted
"""

import os
import shutil
import subprocess
import sys
import tempfile

from fof_case import GADGET, PROGRAM, SECONDS, FofCase, main

SNAPSHOT = GADGET / "snapshot_001.hdf5"
# Run as `sh -c SCRIPT sh FOLDER SIZE COMMAND...` in a mount namespace of its own: nothing stays
# mounted. Prints what is left.
SCRIPT = """
folder=$1 size=$2; shift 2
mount -t tmpfs -o size=$size tmpfs "$folder" && cd "$folder" || exit 77
"$@"; status=$?
echo "left: $(find . -mindepth 1 | tr '\\n' ' ')"
exit $status
"""
UNSHARE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]


def on_small_disk(size, *command):
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            [*UNSHARE, "sh", "-c", SCRIPT, "sh", folder, size, *map(str, command)],
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )


class DiskFull(FofCase):
    """A page is 4 KiB; the catalogue needs some 900 KiB, and membership 4 MiB."""

    def check(self, size, *options):
        result = on_small_disk(size, PROGRAM, SNAPSHOT, "-q", *options)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("fof: error: "), result.stderr)
        self.assertIn("fof_output", result.stderr)
        self.assertIn("No space left on device", result.stderr)
        self.assertEqual(result.stdout, "left: \n")

    def test_no_room_for_the_catalogue(self):
        for size in ("16k", "32k", "100k", "500k", "800k"):
            with self.subTest(size):
                self.check(size)

    def test_no_room_for_the_membership(self):
        for size in ("1200k", "3000k", "4800k"):
            with self.subTest(size):
                self.check(size, "--membership")

    def test_no_room_for_another_file(self):
        """The lock of the commit is one of them: nobody is to remove what is not there."""
        names = []
        for files in range(2, 7):
            result = on_small_disk(f"8000k,nr_inodes={files}", PROGRAM, SNAPSHOT, "-q")
            if result.returncode == 0:
                break
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("No space left on device", result.stderr)
            self.assertNotIn("remove", result.stderr)
            self.assertEqual(result.stdout, "left: \n")
            names.append(result.stderr)
        self.assertIn(".zhalo-lock' cannot be made: No space left on device; make room", names[-1])

    def test_room_enough(self):
        result = on_small_disk("8000k", PROGRAM, SNAPSHOT, "-q", "--membership")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("membership_001.0.hdf5", result.stdout)


if __name__ == "__main__":
    if not shutil.which("unshare") or on_small_disk("16k", "true").returncode != 0:
        print("skipped: a tmpfs cannot be mounted here")
        sys.exit(77)
    main()
