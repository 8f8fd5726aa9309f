"""Real Fourier transforms over ranks and threads, forward and backward, beside FFTW's.

zhalo_fft_bench times both in turns within each run, and compares the spectra. FFTW's side is its
MPI transform, on one rank its own transform with as many threads.
"""

import json

from compare_peers.running import Failure, mpi_words, output_of

EPSILON = {"float": 2.0**-23, "double": 2.0**-52}
COLUMNS = [
    "ranks",
    "N",
    "type",
    "exchange",
    "zhalo",
    "FFTW",
    "ratio",
    "plan zhalo",
    "plan FFTW",
    "f_lo",
    "f_hi",
    "f_hi FFTW",
    "MiB sent",
    "MiB zhalo",
    "MiB FFTW",
    "agree",
]


def run_once(options, folder, ranks, threads, size):
    """The report of one run."""
    out = folder / "transforms.json"
    words, environment = mpi_words(options.mpiexec, ranks)
    program = [options.programs / "zhalo_fft_bench", "--threads", threads, "--sizes", size]
    chosen = ["--types", ",".join(options.types), "--splits", ",".join(options.splits)]
    chosen += ["--ways", ",".join(options.ways), "--effort", options.effort]
    turns = ["--repetitions", options.repetitions, "--json", out]
    output_of([*words, *program, *chosen, *turns], environment)
    return json.loads(out.read_text())


def ranks_and_threads(options):
    """Numbers of ranks with one thread each, and of threads of one rank."""
    ranks = [(ranks, 1) for ranks in options.ranks]
    return ranks + [(1, threads) for threads in options.threads if (1, threads) not in ranks]


def runs(options, folder):
    """Reports, one after the other. Each has "peer": FFTW's version, or none."""
    for ranks, threads in ranks_and_threads(options):
        for size in options.sizes:
            yield run_once(options, folder, ranks, threads, size)


def check_programs(options):
    if not (options.programs / "zhalo_fft_bench").exists():
        raise Failure(f"there is no {options.programs}/zhalo_fft_bench: build it (preset release)")


def agrees(case):
    """Up to rounding: the bound that the tests of the transforms have, and some room for two of
    them. True without FFTW: there is nothing to compare then but zhalo's way there and back."""
    errors = [case["zhalo"]["round_trip_error"]]
    if case.get("peer"):
        errors += [case["peer"]["round_trip_error"], case["spectra_difference"]]
    return all(error <= 64 * EPSILON[case["type"]] for error in errors)


def place_of(report, case):
    if report["threads"] == 1:
        return " x ".join(map(str, case["shape"]))
    return f"1, {report['threads']} threads"


def figures(report, case):
    """Cells of the table."""
    sides = [case["zhalo"], case.get("peer")]

    def of_both(text):
        return ["" if side is None else text(side) for side in sides]

    def mebibytes(value):
        return "" if value is None else f"{value / 2 ** 20:.0f}"

    zhalo = case["zhalo"]
    ratio = case.get("ratio_of_medians")
    fractions = [f"{zhalo['f_lo']:.2f}"] + of_both(lambda side: f"{side['f_hi']:.2f}")
    return [
        place_of(report, case),
        str(case["size"]),
        case["type"],
        case["exchange"].replace("_", " "),
        *of_both(
            lambda side: f"{1e3 * side['median_seconds']:.1f} ({1e3 * side['min_seconds']:.1f})"
        ),
        "" if ratio is None else f"{ratio:.2f}",
        *of_both(lambda side: f"{1e3 * side['plan_seconds']:.0f}"),
        *fractions,
        mebibytes(zhalo["bytes_sent"]),
        *of_both(lambda side: mebibytes(side["peak_resident_bytes"])),
        "yes" if agrees(case) else "NO",
    ]
