"""How scripts/gpu-compare compares the results of two programs, and its table."""

import statistics
import subprocess
import time

import numpy as np
from compare_peers.agreement import read_rows, why_groups_differ, why_neighbours_differ
from compare_peers.running import commit
from compare_peers.transforms import EPSILON

ROWS_LOOKED_UP = 100_000
COLUMNS = ["points", "what", "unit", "zhalo", "peer", "its time", "ratio", "agree"]


def median(runs, counter):
    return statistics.median(run[counter] for run in runs)


def row_of(points, what, unit, times, peer, why):
    ours, theirs = times
    return {
        "points": points,
        "what": what,
        "unit": unit,
        "zhalo": ours,
        "peer": peer,
        "theirs": theirs,
        "ratio": theirs / ours,
        "agree": why is None,
        "why": why,
    }


class Comparison:
    """Of one peer's results with ours, for the points of one case."""

    def __init__(self, case, name, report, reference, folder):
        self.case, self.name, self.report = case, name, report
        self.reference, self.folder = reference, folder

    def row(self, what, ours, seconds, why):
        theirs = statistics.median(seconds) * 1e9 / self.case.num
        peer = self.report["peer"]
        return row_of(self.case.name, what, "ns a point", (ours, theirs), peer, why)

    def groups(self, runs):
        """Labels, and with a catalogue where the peer makes one."""
        fof = self.report["fof"]
        labels = [np.fromfile(one / "labels", np.int64) for one in (self.reference, self.folder)]
        why = why_groups_differ(*labels)
        b = self.case.options.b
        if "haloes" not in fof:
            what = f"FoF labels, b = {b}, no periodic box"
            return [self.row(what, median(runs, "ns_per_particle"), fof["seconds"], why)]
        halo_difference = abs(fof["haloes"] - runs[0]["haloes"])
        why_haloes = why
        if halo_difference > 2 * (self.case.num // 1_000_000):
            why_haloes = f"{runs[0]['haloes']:.0f} and {fof['haloes']} haloes"
        ours = (median(runs, "with_catalogue"), median(runs, "ns_per_particle"))
        return [
            self.row(f"FoF with catalogue, b = {b}", ours[0], fof["seconds"], why_haloes),
            self.row(f"FoF labels, b = {b}", ours[1], fof["labels"]["seconds"], why),
        ]

    def neighbours(self, k, runs):
        num = self.case.num
        periodic = self.name == "jz-tree"
        positions = np.fromfile(self.case.points, np.float32).reshape(-1, 3)
        paths = [one / f"neighbours-{k}" for one in (self.reference, self.folder)]
        rows = [read_rows(one, num, k) for one in paths]
        why = why_neighbours_differ(positions, *rows, periodic, ROWS_LOOKED_UP)
        what = f"kNN, k = {k}" + ("" if periodic else ", no periodic box")
        seconds = self.report["knn"][str(k)]["seconds"]
        return self.row(what, median(runs, "ns_per_query"), seconds, why)


def limit_row(name, runs, copies):
    """Ours beside the least time of three passes over the field each way, which read and write all
    of it as fast as a copy does."""
    _, kind, num, _ = name.split("/", 3)
    time_taken = median(runs, "real_time")
    share = median(runs, "GB_per_second") / median(copies, "GB_per_second")
    times = (time_taken, time_taken * share)
    what = "there and back, in place"
    return row_of(f"{kind} {num}^3", what, "ms", times, "six passes at the speed of a copy", None)


def transform_rows(found):
    """cuFFT's cases beside ours of the same name, and the limit that memory sets."""
    rows = []
    copies = found.get("copy/1GiB/exec:cuda")
    for name, theirs in found.items():
        if not name.startswith("cufft/"):
            continue
        _, kind, num, _ = name.split("/", 3)
        ours = found[name[2:]]
        difference = max(run["difference"] for run in theirs)
        good = difference <= 64 * EPSILON[kind]  # and not if it is no number
        why = None if good else f"spectra differ by {difference:.1e}"
        what = "there and back, in place"
        times = (median(ours, "real_time"), median(theirs, "real_time"))
        rows.append(row_of(f"{kind} {num}^3", what, "ms", times, "cuFFT in 3-D", why))
        if copies:
            rows.append(limit_row(name[2:], ours, copies))
    return rows


def cells(row):
    times = [
        f"{row[key]:.0f}" if row[key] >= 100 else f"{row[key]:.3g}" for key in ("zhalo", "theirs")
    ]
    return [row["points"], row["what"], row["unit"], times[0], row["peer"], times[1]] + [
        f"{row['ratio']:.2f}",
        "yes" if row["agree"] else "NO",
    ]


def line(row):
    """A row of a Markdown table."""
    return "| " + " | ".join(cells(row)) + " |"


def head():
    return "| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS)


def output_of(words, folder):
    try:
        result = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    except OSError:
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""


def machine(root):
    about = root / "build/carry/about"
    found = commit()
    if found == "unknown" and about.exists():
        found = about.read_text().rsplit("commit=", 1)[-1].strip()
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return {
        "date": time.strftime("%Y-%m-%d"),
        "commit": found,
        "device": output_of(query, root).split("\n")[0] or "no GPU",
    }


def about(machine_found, options):
    where = ""
    if options.exec != "cuda":
        where = f" zhalo on the host ({options.exec}): a trial only."
    elif machine_found["device"] == "no GPU":
        where = " zhalo on an emulated device: a trial only, its times mean nothing."
    return (
        f"zhalo {machine_found['commit']}, {machine_found['date']}, {machine_found['device']}."
        f"{where} Medians of {options.repetitions} runs; ratio: the peer's time over zhalo's."
    )
