"""Tables of figures, and what else is said of a run."""

import json
import statistics

from compare_peers import transforms
from compare_peers.running import machine

COLUMNS = [
    "points",
    "what",
    "threads",
    "zhalo",
    "peer",
    "its time",
    "ratio",
    "zhalo B",
    "peer B",
    "agree",
]


def line(cells):
    """A row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def head(columns):
    return line(columns) + "\n|" + " --- |" * len(columns)


def nanoseconds(row, runs):
    """Least and median, per particle or query."""
    values = [run[row["clock"]] * 1e9 / row["num"] for run in runs]
    return min(values), statistics.median(values)


def ratios(row):
    """The peer's time over zhalo's: of the least times, of the medians."""
    ours = nanoseconds(row, row["zhalo"])
    theirs = nanoseconds(row, row["peer"]["runs"])
    return tuple(their / our for our, their in zip(ours, theirs))


def text_of(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def pair(values):
    return f"{text_of(values[0])} ({text_of(values[1])})"


def cells(row):
    ours = pair(nanoseconds(row, row["zhalo"]))
    our_bytes = f"{row['zhalo'][0]['bytes'] / row['num']:.0f}"
    start = [row["name"], row["what"], str(row["threads"]), ours]
    peer = row["peer"]
    if peer is None:
        return start + ["", "", "", our_bytes, "", ""]
    theirs = [peer["name"], pair(nanoseconds(row, peer["runs"])), pair(ratios(row))]
    their_bytes = "" if peer["bytes"] is None else f"{peer['bytes'] / row['num']:.0f}"
    return start + theirs + [our_bytes, their_bytes, "yes" if row["agree"] else "NO"]


class Report:
    """Everything that a run finds; printed as it comes, and written each time: a long run may be
    cut off."""

    def __init__(self, options):
        self.options = options
        self.content = {
            "machine": machine(),
            "repetitions": options.repetitions,
            "peers": {},
            "absent": [],
            "rows": [],
            "transforms": [],
            "failed": [],
        }

    def write(self):
        if self.options.json:
            self.options.json.write_text(json.dumps(self.content, indent=1) + "\n")

    def peers(self, kind, found, lines):
        self.content["peers"][kind] = found
        self.absent(lines)

    def absent(self, lines):
        self.content["absent"] += lines
        for one in lines:
            print(f"compare-peers: {one}", flush=True)

    def failed(self, text):
        self.content["failed"].append(text)
        print(f"compare-peers: {text}", flush=True)

    def row(self, row):
        if all(one["kind"] != row["kind"] for one in self.content["rows"]):
            print(f"\n{row['kind']}:\n\n{head(COLUMNS)}")
        print(line(cells(row)), flush=True)
        self.content["rows"].append(row)
        self.write()

    def transform(self, report):
        if not self.content["transforms"]:
            print(f"\ntransforms:\n\n{head(transforms.COLUMNS)}")
        for case in report["cases"]:
            print(line(transforms.figures(report, case)), flush=True)
        self.content["transforms"].append(report)
        self.write()

    def wrong(self):
        """A line for each result that does not agree."""
        for row in self.content["rows"]:
            if not row["agree"]:
                where = f"{row['kind']}, {row['name']}, {row['what']}"
                yield f"{where}: {row['peer']['name']} differs: {row['why']}"
        for report in self.content["transforms"]:
            for case in report["cases"]:
                if not transforms.agrees(case):
                    yield f"transforms, {case['size']}, {case['type']}: spectra differ"


def about(content):
    """The machine, and who ran."""
    where = content["machine"]
    versions = {}
    for found in content["peers"].values():
        versions.update(found)
    for report in content["transforms"]:
        versions.update({report["peer"]: ""} if report["peer"] else {})
    listed = ", ".join(f"{name} {version}".strip() for name, version in versions.items())
    return (
        f"zhalo {where['commit']}, {where['date']}, {where['cores']} cores of "
        f"{where['processor']}, load {where['load'][0]:.1f} at the start, "
        f"{content['repetitions']} turns. Times: ns per particle or query, processor time on one "
        f"thread, wall time on several; least (median). Ratio: the peer's time over zhalo's. B: "
        f"bytes per particle or query, zhalo's as its pool counts them, the peer's as its resident "
        f"set grew in the first call. Peers: {listed or 'none'}."
    )
