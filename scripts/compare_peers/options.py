"""The command line of scripts/compare-peers."""

import argparse
import os
import shutil
import sys
from pathlib import Path

from compare_peers.running import ROOT

DESCRIPTION = """Times zhalo beside other codes, on the same points, in turns within one run, and
compares their results.

  groups      hfof, kdcount, scipy, scikit-learn, ArborX, GADGET-4
  neighbours  scipy, scikit-learn, pykdtree, nanoflann, ArborX
  painting    numpy, Pylians, abacusutils
  power       numpy, Pylians, abacusutils: from positions to P(k)
  transforms  FFTW, over ranks and threads, by zhalo_fft_bench

A peer that is not found is named, and the others run. Points are made by zhalo_bench. Times are
those of the processor on one thread, and of the clock on several. docs/benchmarks.md says what is
compared with what.

Exit code: 0 all results agree, 1 one does not or a peer failed, 2 zhalo's programs or numpy are
missing.
"""
WORK = ["groups", "neighbours", "painting", "power", "transforms"]


def add_work(parser):
    parser.add_argument(
        "--programs",
        type=Path,
        default=ROOT / "build/release/apps/bench",
        help="folder of zhalo_bench and zhalo_fft_bench [build/release/apps/bench]",
    )
    parser.add_argument("--work", nargs="+", default=WORK, choices=WORK, help="what is timed [all]")
    parser.add_argument(
        "--points", nargs="+", default=["uniform", "clustered"], help="kinds (zhalo_bench --help)"
    )
    parser.add_argument("--num", nargs="+", default=["1e5", "1e6"], help="numbers of points")
    orders = ["random", "z-order"]
    parser.add_argument("--order", choices=orders, default="random", help="of the points [random]")
    parser.add_argument(
        "--threads",
        nargs="+",
        type=int,
        default=[1],
        help="the first one for all cases, the others for the last number of points [1]",
    )
    parser.add_argument("--repetitions", type=int, default=5, help="turns, after a first call")
    parser.add_argument("--cpu", type=int, help="core of runs on one thread [the last one]")


def add_cases(parser):
    parser.add_argument(
        "--b", nargs="+", type=float, default=[0.2, 0.7], help="linking lengths / mean separation"
    )
    parser.add_argument("--k", nargs="+", type=int, default=[8, 16, 32], choices=[8, 16, 32, 64])
    slow = "of slow peers, such as scipy"
    parser.add_argument("--slow-k", nargs="*", type=int, default=[8, 16], help=f"those {slow}")
    parser.add_argument(
        "--slow-num", type=float, default=1e5, help=f"largest number of points {slow} [1e5]"
    )
    windows = ["ngp", "cic", "tsc", "pcs"]
    parser.add_argument("--windows", nargs="+", default=["cic", "tsc"], choices=windows)
    parser.add_argument("--grid", type=int, default=128, help="cells of meshes along each axis")


def add_transforms(parser):
    parser.add_argument("--mpiexec", default="mpiexec", help="what starts ranks, with -n")
    parser.add_argument("--ranks", nargs="*", type=int, default=[1, 2, 4])
    parser.add_argument("--sizes", nargs="+", type=int, default=[128, 256], help="cells an axis")
    parser.add_argument("--types", nargs="+", default=["float", "double"])
    parser.add_argument("--splits", nargs="+", default=["slab", "pencil"], help="or automatic")
    ways = ["shared_memory", "messages"]
    parser.add_argument("--ways", nargs="+", default=ways, help="or automatic")
    parser.add_argument(
        "--effort", default="estimate", choices=["estimate", "measure"], help="of both planners"
    )


def add_peer_paths(parser):
    parser.add_argument("--peers", nargs="*", help="only these [all that are found]")
    parser.add_argument("--python", default=sys.executable, help="that has the peers [this one]")
    parser.add_argument("--hfof", type=Path, metavar="DIR", help="folder of its built package")
    parser.add_argument(
        "--nanoflann",
        type=Path,
        default=Path("/usr/include"),
        metavar="DIR",
        help="folder of nanoflann.hpp [/usr/include]",
    )
    parser.add_argument("--arborx", type=Path, metavar="PROGRAM", help="arborx_driver")
    parser.add_argument("--gadget4", type=Path, metavar="PROGRAM", help="Gadget4, with FOF")
    parser.add_argument(
        "--compiler", default=os.environ.get("CXX", "c++"), help="of nanoflann's driver"
    )
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="draw them into this folder")
    parser.add_argument(
        "--draw", type=Path, metavar="JSON", help="run nothing: tables and plots of an older run"
    )


def parse(words=None):
    parser = argparse.ArgumentParser(
        description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_work(parser)
    add_cases(parser)
    add_transforms(parser)
    add_peer_paths(parser)
    options = parser.parse_args(words)
    options.programs = options.programs.resolve()
    return options


def peer_paths(options, folder):
    """Where peers are: what a worker is told."""

    def absolute(path):
        return str(path.resolve()) if path else None

    return {
        "hfof": absolute(options.hfof),
        "nanoflann": absolute(options.nanoflann),
        "arborx": absolute(options.arborx),
        "gadget4": absolute(options.gadget4),
        "mpiexec": options.mpiexec,
        "compiler": shutil.which(options.compiler) or options.compiler,
        "folder": str(folder),
    }
