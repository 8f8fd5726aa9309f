"""Faults, one of each kind that the tests are for, planted into a copy of the sources: scripts/test
--all must find every one.

planted_faults.py check
    the faults still fit the sources (a test of its own)
planted_faults.py find FOLDER [KIND]...
    copies the last commit to FOLDER/zhalo, plants them, and runs those of the tests that must find
    them; those of devices one at a time, because each ends a process. KIND: these alone. Takes as
    long as it takes to build all trees, less where FOLDER/zhalo is built already
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Fault(NamedTuple):
    kind: str
    path: str
    old: str  # once in the file; empty: the file is new
    new: str
    test: str  # that finds it
    says: str  # in the output of this test


TOGETHER = [
    Fault(
        "format",
        "apps/examples/simulation.hpp",
        "#pragma once\n",
        "#pragma   once\n",
        "house.format",
        "code should be clang-formatted",
    ),
    Fault(
        "layers",
        "src/core/planted.hpp",
        "",
        '#pragma once\n#include "zhalo/fof/fof.hpp"\n',
        "house.layers",
        "layer core may not include",
    ),
    Fault(
        "tidy",
        "src/comm/transport.cpp",
        "  if (transport != Transport::automatic || word == nullptr) return transport;\n",
        "  const char* none = 0;\n"
        "  if (transport != Transport::automatic || word == none) return transport;\n",
        "house.tidy1|house.tidy2|house.tidy3|house.tidy4",
        "zero as null pointer constant",
    ),
    Fault(
        "leak",
        "src/io/snapshot/snapshot.cpp",
        "  info.path = path;\n",
        "  info.path = path;\n  auto* lost = new double[8];\n  lost[0] = 1;\n",
        "asan.io.snapshot",
        "LeakSanitizer: detected memory leaks",
    ),
    Fault(
        "race",
        "kernels/common/fof/walk.inl.hpp",
        "    lanes.sync();\n    for (int n = 0; n < walk.num_nodes; ++n) {",
        "    for (int n = 0; n < walk.num_nodes; ++n) {",
        "tsan.lanes",
        "ThreadSanitizer: data race",
    ),
    Fault(
        "wrong answer",
        "src/mesh/power_spectrum.cpp",
        "return k_min + i * width;",
        "return k_min + (i + 0.25) * width;",
        "release.mesh.modes.ranks1",
        "FAILED",
    ),
    Fault(
        "hang",
        "src/domain/redistribution.cpp",
        "  std::vector<std::uint64_t> next = keys;\n",
        "  std::vector<std::uint64_t> next = keys;\n"
        "  volatile bool waits = context.comm.rank() == 1;\n  while (waits) continue;\n",
        "release.balance.ranks2",
        "Timeout",
    ),
    Fault(
        "bad page",
        "docs/quickstart.md",
        "Link length  0.15625 Mpc/h",
        "Link length  0.15626 Mpc/h",
        "release.quickstart",
        "FAILED",
    ),
]


# Of the CUDA code. scripts/test finds all but the last one, for which it needs --all.
ON_DEVICES = [
    Fault(
        "missing sync",
        "kernels/common/knn/few_nearest.inl.hpp",
        "      lanes.sync();\n      refine(of);\n",
        "      refine(of);\n",
        "emulated.knn.device",
        "FAILED",
    ),
    Fault(
        "collective in a branch",
        "kernels/lanes/warp_lanes.cuh",
        "{ __syncwarp(); }",
        "{\n    if (lane() < 16) __syncwarp();\n  }",
        "emulated.parity.cuda",
        "are not all at one collective",
    ),
    Fault(
        "index behind the leaves",
        "kernels/cuda/launch.cuh",
        "item < num_items; item += step",
        "item <= num_items; item += step",
        "emulated.parity.cuda.guarded",
        "behind the end of a block",
    ),
    Fault(
        "host pointer",
        "src/fof/fof.cpp",
        "Buffer<LocalIndex> smallest(exec, local.linked.num, \"labels\");",
        "Buffer<LocalIndex> smallest(Host{}, local.linked.num, \"labels\");",
        "emulated.parity.cuda",
        "host",
    ),
    Fault(
        "dropped error",
        "kernels/cuda/memory.cu",
        "void synchronise(const Cuda& exec) {\n  const DeviceScope scope(exec.device);\n"
        "  ZHALO_CUDA_TRY(cudaStreamSynchronize(exec.stream));",
        "void synchronise(const Cuda& exec) {\n  const DeviceScope scope(exec.device);\n"
        "  static_cast<void>(cudaStreamSynchronize(exec.stream));",
        "emulated.device.failures",
        "FAILED",
    ),
    Fault(
        "pinned on the wrong device",
        "kernels/cuda/memory.cu",
        "return allocate_on(device, bytes, cudaMallocHost);",
        "return allocate_on(0, bytes, cudaMallocHost);",
        "emulated.device.contexts.ranks3",
        "FAILED",
    ),
    Fault(
        "race between blocks",
        "kernels/common/arithmetic.hpp",
        "  return atomicCAS(&at, expected, desired);\n",
        "  const LocalIndex seen = at;\n  if (seen == expected) at = desired;\n  return seen;\n",
        "tsan.parity.cuda",
        "ThreadSanitizer: data race",
    ),
]
FAULTS = TOGETHER + ON_DEVICES


def fits(fault, root):
    path = root / fault.path
    return not path.exists() if not fault.old else path.read_text().count(fault.old) == 1


def check():
    stale = [
        f"{fault.kind}: {fault.path} has not exactly one {fault.old!r}"
        for fault in FAULTS
        if not fits(fault, ROOT)
    ]
    print("\n".join(stale) or f"all {len(FAULTS)} faults fit the sources")
    return 1 if stale else 0


def plant(fault, root):
    path = root / fault.path
    path.write_text(path.read_text().replace(fault.old, fault.new) if fault.old else fault.new)


def result_of(test, output):
    """What ctest printed of a test: its line of result and what stands below, to the next test's
    line."""
    found = re.search(
        rf"Test +#\d+: {re.escape(test)} .*?(?=\n *\d+/\d+ Test|\n\d+% tests passed)",
        output,
        re.DOTALL,
    )
    return found[0] if found else ""


def is_seen(fault, output):
    return any(
        "***" in result and fault.says in result
        for result in (result_of(test, output) for test in fault.test.split("|"))
    )


def report(faults, run):
    """Which of them a run has found. All that it said, if one is missed."""
    missed = [fault.kind for fault in faults if not is_seen(fault, run.stdout)]
    for fault in faults:
        print(
            f"{'MISSED' if fault.kind in missed else 'found':6}  {fault.kind:26} by {fault.test}",
            flush=True,
        )
    if missed:
        print(run.stdout + run.stderr, flush=True)
    return missed


def copy_sources(folder):
    root = Path(folder) / "zhalo"
    if not root.exists():
        subprocess.run(["git", "clone", "-q", str(ROOT), str(root)], check=True)
    return root


def find_together(root, faults):
    names = "|".join(re.escape(name) for fault in faults for name in fault.test.split("|"))
    return subprocess.run(
        ["scripts/test", "--all", "-R", f"^({names})$"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )


def find_alone(root, fault):
    """As scripts/test does, in the one tree that matters."""
    tree = fault.test.split(".")[0]
    steps = [
        "cmake --preset $0 >configured.log || { cat configured.log; exit 1; }",
        "cmake --build --preset $0",
        'ctest --preset $0 -R "$1" --output-on-failure',
    ]
    return subprocess.run(
        ["sh", "-c", " && ".join(steps), tree, f"^{re.escape(fault.test)}$"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )


def find(folder, kinds):
    root = copy_sources(folder)
    missed = []
    rounds = [TOGETHER, *([fault] for fault in ON_DEVICES)]
    for faults in ([fault for fault in one if not kinds or fault.kind in kinds] for one in rounds):
        if not faults:
            continue
        subprocess.run(["git", "-C", str(root), "checkout", "-q", "-f", "--", "."], check=True)
        subprocess.run(["git", "-C", str(root), "clean", "-q", "-f", "-d", "src"], check=True)
        for fault in faults:
            plant(fault, root)
        missed += report(
            faults,
            find_alone(root, faults[0]) if faults[0] in ON_DEVICES else find_together(root, faults),
        )
    return 1 if missed else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        sys.exit(check())
    if len(sys.argv) < 3 or sys.argv[1] != "find":
        sys.exit(__doc__)
    sys.exit(find(sys.argv[2], sys.argv[3:]))
