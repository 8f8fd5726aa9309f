"""scripts/compare-peers, from its options to its exit code."""

import json
import sys
import tempfile
from pathlib import Path

from compare_peers import options as command_line
from compare_peers import plots, timing, transforms
from compare_peers.report import COLUMNS, Report, about, cells, head, line
from compare_peers.running import Failure


def check_programs(options):
    if not (options.programs / "zhalo_bench").exists():
        raise Failure(f"there is no {options.programs}/zhalo_bench: build it (preset release)")
    if "transforms" in options.work:
        transforms.check_programs(options)


def run_kind(options, kind, folder, report):
    found, lines = timing.find_peers(options, kind)
    report.peers(kind, found, lines)
    try:
        for row in timing.rows_of(options, kind, found, folder, report.failed):
            report.row(row)
    except Failure as failure:
        report.failed(f"{kind}: {failure}")


def run_transforms(options, folder, report):
    try:
        for one in transforms.runs(options, folder):
            if not report.content["transforms"] and one["peer"] is None:
                report.absent(["transforms: FFTW is not found by the build of zhalo_fft_bench"])
            report.transform(one)
    except Failure as failure:
        report.failed(f"transforms: {failure}")


def run_all(options):
    check_programs(options)
    report = Report(options)
    with tempfile.TemporaryDirectory(prefix="compare-peers-") as name:
        folder = Path(name)
        options.peer_paths = command_line.peer_paths(options, folder)
        for kind in options.work:
            if kind == "transforms":
                run_transforms(options, folder, report)
            else:
                run_kind(options, kind, folder, report)
    report.write()
    return report


def draw(options, content):
    if options.plots:
        names = plots.draw_all(content, options.plots)
        if names is None:
            print("compare-peers: no plots: matplotlib is not found")
        else:
            print(f"compare-peers: {', '.join(names) or 'no plots'} in {options.plots}")


def show(options):
    """Tables and plots of an older run."""
    content = json.loads(options.draw.read_text())
    for kind in dict.fromkeys(row["kind"] for row in content["rows"]):
        print(f"\n{kind}:\n\n{head(COLUMNS)}")
        for row in content["rows"]:
            if row["kind"] == kind:
                print(line(cells(row)))
    if content["transforms"]:
        print(f"\ntransforms:\n\n{head(transforms.COLUMNS)}")
    for report in content["transforms"]:
        for case in report["cases"]:
            print(line(transforms.figures(report, case)))
    print("\n" + about(content))
    draw(options, content)
    return 0


def main(words=None):
    options = command_line.parse(words)
    if options.draw:
        return show(options)
    try:
        report = run_all(options)
    except Failure as failure:
        print(f"compare-peers: {failure}", file=sys.stderr)
        return 2
    print("\n" + about(report.content))
    draw(options, report.content)
    wrong = list(report.wrong())
    for one in wrong:
        print(f"compare-peers: {one}")
    return 1 if wrong or report.content["failed"] else 0
