"""scripts/check-layers is shown trees with one fault each and must name it, and a tree without
fault and must accept it."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check-layers"
GOOD = {
    "include/zhalo/core/config.hpp": "#pragma once\n#if defined(X)\n#endif\n",
    "include/zhalo/comm/communicator.hpp": "#pragma once\n#include <mpi.h>\n"
    '#include "zhalo/core/config.hpp"\n',
    "src/fof/fof.cpp": '#include "kernels/fof.hpp"\n'
    '#include "zhalo/tree/tree.hpp"\n// MPI_COMM_WORLD, exit(1)\n',
    "src/catalogue/c.cpp": '#include "zhalo/fof/fof.hpp"\nconst char* s = "abort()";\n'
    "int n = 1'000;\n",
    "include/zhalo/catalogue/plain.hpp": '#pragma once\n#include <vector>\n'
    '#include "zhalo/core/config.hpp"\n',
    "kernels/common/fof/plain.hpp": '#pragma once\n#include "zhalo/catalogue/plain.hpp"\n',
    "kernels/host/fof.cpp": '#include "kernels/common/fof/labels.hpp"\n'
    '#include "zhalo/core/config.hpp"\n#if 1\n#endif\n',
    "include/zhalo/c/domain.h": "#ifndef A\n#define A\n#include <mpi.h>\n#include <stdint.h>\n"
    "#endif\n",
    "include/zhalo/zhalo.h": '#ifndef B\n#define B\n#include "zhalo/c/domain.h"\n#endif\n',
    "src/c/context.cpp": '#include "zhalo/zhalo.h"\n#include "zhalo/mesh/paint.hpp"\n',
    "apps/examples/e.c": '#include "zhalo/zhalo.h"\n',
    "apps/fof.cpp": '#include "zhalo/io/snapshot.hpp"\n#include "progress.hpp"\n#include <mpi.h>\n',
    "tests/unit/a.cpp": '#include "kernels/common/fof/labels.hpp"\n#include <mpi.h>\n',
}
# name: (file, its text, part of the message)
FAULTS = {
    "upward": ("src/tree/t.cpp", '#include "zhalo/fof/fof.hpp"\n', "layer tree may not include"),
    "upward in a header": (
        "include/zhalo/core/c.hpp",
        '#include "zhalo/comm/communicator.hpp"\n',
        "layer core may not include",
    ),
    "angle brackets": (
        "src/tree/t.cpp",
        "#include <zhalo/fof/fof.hpp>\n",
        "layer tree may not include",
    ),
    "siblings": ("src/fof/f.cpp", '#include "zhalo/knn/knn.hpp"\n', "layer fof may not include"),
    "mesh and tree": (
        "src/mesh/m.cpp",
        '#include "zhalo/tree/tree.hpp"\n',
        "layer mesh may not include",
    ),
    "private header upward": (
        "src/domain/d.cpp",
        '#include "src/io/reader.hpp"\n',
        "layer domain may not include",
    ),
    "C in C++": ("src/fof/f.cpp", '#include "zhalo/zhalo.h"\n', "only src/c/ and python/ include"),
    "one C header in C++": (
        "src/fof/f.cpp",
        '#include "zhalo/c/domain.h"\n',
        "only src/c/ and python/ include",
    ),
    "C in kernels": (
        "kernels/host/k.cpp",
        '#include "zhalo/c/domain.h"\n',
        "only src/c/ and python/ include",
    ),
    "C++ in C": (
        "include/zhalo/c/domain.h",
        '#include "zhalo/core/config.hpp"\n',
        "headers for C include no C++",
    ),
    "C++ in zhalo.h": (
        "include/zhalo/zhalo.h",
        '#include "zhalo/core/config.hpp"\n',
        "headers for C include no C++",
    ),
    "io in the C interface": (
        "src/c/d.cpp",
        '#include "zhalo/io/snapshot.hpp"\n',
        "layer c may not include",
    ),
    "long line in C": ("apps/e.c", "// " + "x" * 100 + "\n", "103 characters"),
    "long line in Python": ("tests/t.py", "# " + "x" * 100 + "\n", "102 characters"),
    "long line of a script": ("scripts/s", "#!python3\n# " + "x" * 100 + "\n", "102 characters"),
    "long file in Python": ("tests/t.py", "a = 1\n" * 401, "401 lines"),
    "unknown layer": ("src/misc/m.cpp", '#include "zhalo/core/config.hpp"\n', "unknown layer"),
    "kernels in include": (
        "include/zhalo/fof/f.hpp",
        '#include "kernels/fof.hpp"\n',
        "include/ sees no kernels",
    ),
    "common in src": (
        "src/fof/f.cpp",
        '#include "kernels/common/fof/ghosts.hpp"\n',
        "kernels/<family>.hpp only",
    ),
    "kernels above core": (
        "kernels/common/fof/k.hpp",
        '#include "zhalo/domain/particles.hpp"\n',
        "kernels include zhalo/core, and",
    ),
    "mpi in kernels": ("kernels/host/k.cpp", "#include <mpi.h>\n", "<mpi.h> belongs into"),
    "hdf5 in fof": ("src/fof/f.cpp", "#include <hdf5.h>\n", "<hdf5.h> belongs into"),
    "cuda in src": (
        "src/core/c.cpp",
        "#include <cuda_runtime.h>\n",
        "<cuda_runtime.h> belongs into",
    ),
    "app looks inside": ("apps/a.cpp", '#include "kernels/fof.hpp"\n', "apps include only"),
    "#if in src": ("src/io/i.cpp", "#ifdef NDEBUG\n#endif\n", "#if lives in"),
    "world": ("src/comm/c.cpp", "auto c = MPI_COMM_WORLD;\n", "never uses MPI_COMM_WORLD"),
    "exit": ("src/io/i.cpp", "void f() { std::exit(1); }\n", "never uses std::exit"),
    "abort": ("kernels/host/k.cpp", "void f() { abort(); }\n", "never uses abort"),
    "no_unique_address": (
        "kernels/common/fof/k.hpp",
        "struct A { [[no_unique_address]] B b; };\n",
        "host and device lay it out apart",
    ),
    "long file": ("src/io/i.cpp", "int a;\n" * 401, "401 lines"),
    "long line": ("src/io/i.cpp", "// " + "x" * 100 + "\n", "103 characters"),
    "machine path": ("docs/a.md", "see /" + "home/me/data\n", "a path of one machine"),
}


def check(tree):
    """Exit status and output of check-layers on a tree of {path: text}."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in tree.items():
            target = Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        run = subprocess.run(
            [sys.executable, str(SCRIPT), folder], capture_output=True, text=True, check=False
        )
        return run.returncode, run.stdout


class CheckLayers(unittest.TestCase):
    def test_good_tree_passes(self):
        self.assertEqual(check(GOOD), (0, f"check-layers: {len(GOOD)} files, 0 violations\n"))

    def test_each_fault_is_named(self):
        for name, (path, text, message) in FAULTS.items():
            with self.subTest(name):
                status, output = check({**GOOD, path: text})
                self.assertEqual(status, 1, output)
                self.assertIn(message, output)
                self.assertIn(path + ":", output)

    def test_empty_tree_is_an_error(self):
        self.assertEqual(check({})[0], 1)


if __name__ == "__main__":
    unittest.main()
