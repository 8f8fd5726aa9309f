"""The scripts that cannot run in full here: what they say and how they end when something is
missing."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*command, **environment):
    """Exit status and all output of a script."""
    result = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    return result.returncode, result.stdout + result.stderr


def folder_of_commands(folder, *names):
    """Fills a folder with links to these commands only: a PATH on which everything else is
    missing."""
    for name in names:
        for source in os.environ["PATH"].split(":"):
            if Path(source, name).exists():
                Path(folder, name).symlink_to(Path(source, name))
                break
    return folder


class Scripts(unittest.TestCase):
    def test_all_parse(self):
        for script in sorted(ROOT.glob("scripts/*")) + [ROOT / ".ci/run"]:
            if script.is_file() and "bash" in script.read_text().split("\n", 1)[0]:
                with self.subTest(script.name):
                    self.assertEqual(run("bash", "-n", str(script)), (0, ""))

    def test_setup_elsewhere_names_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder_of_commands(folder, "bash", "env", "grep", "cmake")
            status, output = run(
                "bash", "scripts/setup", "demo", PATH=path, ZHALO_OS_RELEASE="/dev/null"
            )
        self.assertEqual(status, 1, output)
        self.assertIn("not Debian 12", output)
        self.assertIn("ninja (Debian: ninja-build)", output)
        self.assertIn("mpicc (Debian: libopenmpi-dev)", output)
        self.assertNotIn("cmake (Debian", output)
        self.assertNotIn("CMake 3.25 or newer:", output)

    def test_setup_elsewhere_names_an_old_cmake(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder_of_commands(folder, "bash", "env", "grep")
            cmake = Path(folder, "cmake")
            cmake.write_text("#!/bin/sh\necho cmake version 3.22.6\n")
            cmake.chmod(0o755)
            status, output = run(
                "bash", "scripts/setup", "demo", PATH=path, ZHALO_OS_RELEASE="/dev/null"
            )
        self.assertEqual(status, 1, output)
        self.assertIn("CMake 3.25 or newer: this one is 3.22", output)

    def test_setup_without_root_or_sudo_says_what_to_run(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder_of_commands(folder, "bash", "env", "grep")
            Path(folder, "id").write_text("#!/bin/sh\necho 1000\n")
            Path(folder, "id").chmod(0o755)
            release = Path(folder, "os-release")
            release.write_text('ID=debian\nVERSION_ID="12"\n')
            status, output = run(
                "bash", "scripts/setup", "demo", PATH=path, ZHALO_OS_RELEASE=str(release)
            )
        self.assertEqual(status, 1, output)
        self.assertIn("as root, run: apt-get install g++ cmake", output)

    def test_setup_rejects_what_it_does_not_know(self):
        self.assertEqual(run("scripts/setup", "everything"), (2, "usage: setup [demo|test|all]\n"))

    def test_ci_runs_all_tests_and_nothing_else(self):
        text = (ROOT / ".ci/run").read_text().split("\n")
        self.assertEqual(
            text, ["#!/usr/bin/env bash", 'exec "$(dirname "$0")/../scripts/test" --all', ""]
        )


if __name__ == "__main__":
    unittest.main()
