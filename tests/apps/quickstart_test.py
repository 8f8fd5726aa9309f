"""docs/quickstart.md: every command of it, as it stands there, and its output.

  quickstart_test.py PROGRAM ROOT

Blocks of `sh` and `python` are run in order, where data/ and scripts/ are as in a clone; after one
may follow what it prints: `output` exactly, or `text` with "..." for lines that are left out.
Blocks of `console` are the build, which is this test's own surroundings.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM, ROOT = (Path(argument).absolute() for argument in sys.argv[1:3])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BUILD = {"scripts/demo\n", 'export PATH="$PWD/build/release/apps:$PATH"\n'}


def has_matplotlib():
    return (
        subprocess.run(
            [sys.executable, "-c", "import matplotlib"], capture_output=True, check=False
        ).returncode
        == 0
    )


class Quickstart(unittest.TestCase):
    def assert_lines(self, expected, output):
        """All lines of `expected` in this order; nothing between two of them unless "..." is."""
        pattern = "".join(
            "(?:.*\n)*?" if line == "..." else re.escape(line) + "\n"
            for line in expected.splitlines()
        )
        self.assertRegex(output, "(?m)^" + pattern)

    def run_block(self, kind, text, folder):
        command = ["bash", "-euc", text] if kind == "sh" else [sys.executable, "-c", text]
        path = f"{Path(sys.executable).parent}:{PROGRAM.parent}:{os.environ['PATH']}"
        result = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env={**os.environ, "PATH": path},
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""), text)
        return result.stdout

    def test_all_blocks(self):
        blocks = BLOCK.findall((ROOT / "docs/quickstart.md").read_text())
        self.assertEqual({text for kind, text in blocks if kind == "console"}, BUILD)
        self.assertTrue({"sh", "python", "output", "text"} <= {kind for kind, _ in blocks})
        with tempfile.TemporaryDirectory() as folder:
            for name in ("data", "scripts"):
                (Path(folder) / name).symlink_to(ROOT / name)
            output = ""
            for kind, text in blocks:
                if "plot-haloes" in text and not has_matplotlib():
                    print("left out, since there is no matplotlib:", text)
                elif kind in ("sh", "python"):
                    output = self.run_block(kind, text, folder)
                elif kind == "output":
                    self.assertEqual(output, text)
                elif kind == "text":
                    self.assert_lines(text, output)
            if has_matplotlib():
                self.assertEqual((Path(folder) / "haloes.png").read_bytes()[:4], b"\x89PNG")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
