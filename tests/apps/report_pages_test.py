"""docs/report.md: its commands, and that it names the keys of all reports and no others.

  report_pages_test.py PROGRAM ROOT
"""

import json
import re

from page_case import ROOT, PageCase, main

DATA = ROOT / "data"
SNAPSHOT = DATA / "gadget4-dm64/snapshot_001.hdf5"
CATALOGUE = DATA / "gadget4-dm64/fof_tab_001.hdf5"
COMMANDS = ("fof", "density", "knn", "ics")
# Each key has a value in one of them, and is null in another if it may be.
RUNS = {
    "fof": (
        f"{DATA}/swift-gas64/snap_0000.hdf5 --attach-types 0",
        f"{SNAPSHOT} --rlink-abs 0.1 --dry-run",
    ),
    "density": (
        f"{SNAPSHOT} --grid 16 --power p.txt --image m.png --haloes {CATALOGUE}",
        f"{SNAPSHOT} --grid 16 --power p.txt",
        f"{SNAPSHOT} --grid 16 -o field.hdf5",
    ),
    "knn": (
        f"{SNAPSHOT} -k 2 --query {SNAPSHOT} --max-radius 0.1",
        f"{SNAPSHOT} -k 2 --reduce kth --dry-run",
    ),
    "ics": ("--num 4 --box-size 20 --linear-power linear.txt", "--num 4 --box-size 20"),
}


def keys_of(value, name=""):
    """The keys of an object and of those in it: a.b, and a[].b in a list."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from keys_of(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for element in value:
            yield from keys_of(element, name + "[]")
    else:
        yield name


def keys_in(section):
    """Those of the first column of its table. `.b` stands beside `a.c` for `a.b`."""
    for row in re.findall(r"^\| (`.*?) +\|", section, re.MULTILINE):
        for key in re.findall("`(.*?)`", row):
            if key.startswith("."):
                key = whole.rpartition(".")[0] + key
            else:
                whole = key
            yield key


def lacks(value, names):
    """Whether an object lacks the key of these names. Those in a null or a list may be missing."""
    if not names or value is None:
        return False
    if names[0].endswith("[]"):
        return names[0][:-2] not in value
    return names[0] not in value or lacks(value[names[0]], names[1:])


class Report(PageCase):
    def test_commands(self):
        self.assertEqual(self.run_page("report.md"), [])

    def sections(self):
        """The named parts of the page: keys by command."""
        _, everywhere, snapshot, *parts = (ROOT / "docs/report.md").read_text().split("\n## ")
        keys = {}
        for part in parts:
            command, _, table = part.partition("\n")
            keys[command] = [*keys_in(everywhere), *keys_in(table)]
            if command != "ics":
                keys[command] += keys_in(snapshot)
        return keys

    def test_keys(self):
        if "this build has no cairo" in self.run_text("density --help"):
            self.skipTest("this build has no cairo")
        (self.folder / "linear.txt").write_text("0.001 100\n1 1\n100 1e-4\n")
        sections = self.sections()
        self.assertEqual(tuple(sections), COMMANDS)
        for command, runs in RUNS.items():
            found = set()
            for run in runs:
                output = self.run_text(f"{command} {run} -q --json - 2>/dev/null")
                report = json.loads(output)
                self.assertEqual(report["command"], command)
                self.assertEqual(" ".join(report["command_line"][1:]), f"{run} -q --json -")
                found |= set(keys_of(report))
                missing = [key for key in sections[command] if lacks(report, key.split("."))]
                self.assertEqual(missing, [], run)
            found -= {"result"}  # null in dry runs
            documented = sections[command]
            self.assertEqual(len(documented), len(set(documented)))
            self.assertEqual(set(documented), found, command)


if __name__ == "__main__":
    main()
