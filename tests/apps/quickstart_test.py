"""docs/quickstart.md: every command of it, as it stands there, and its output.

  quickstart_test.py PROGRAM ROOT

Blocks of `console` are the build, which is this test's own surroundings.
"""

import subprocess
import sys

from page_case import BLOCK, ROOT, PageCase, main

BUILD = {
    "scripts/demo\n",
    'export PATH="$PWD/build/release/apps:$PATH"\n',
    "cmake --preset release -DZHALO_TESTS=OFF -DZHALO_BENCHMARKS=OFF\n"
    "cmake --build --preset release\n",
}


def has_matplotlib():
    command = [sys.executable, "-c", "import matplotlib"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


class Quickstart(PageCase):
    def run_text(self, text, **environment):
        if "plot-haloes" not in text or has_matplotlib():
            return super().run_text(text, **environment)
        print("left out, since there is no matplotlib:", text)
        return ""

    def test_all_blocks(self):
        (self.folder / "scripts").symlink_to(ROOT / "scripts")
        kinds = {kind for kind, _ in BLOCK.findall((ROOT / "docs/quickstart.md").read_text())}
        self.assertTrue({"sh", "python", "output", "text"} <= kinds)
        others = self.run_page("quickstart.md")
        self.assertEqual({text for kind, text in others if kind == "console"}, BUILD)
        if has_matplotlib():
            self.assertEqual((self.folder / "haloes.png").read_bytes()[:4], b"\x89PNG")


if __name__ == "__main__":
    main()
