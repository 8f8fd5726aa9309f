"""Of any of the commands: its phases add up to the whole, and have names.

  phases_test.py PROGRAM DATA SNAPSHOTS
"""

import json

from command_case import GADGET, PROGRAM, CommandCase, main

SNAPSHOT = GADGET / "snapshot_001.hdf5"
ARGUMENTS = {
    "fof": [SNAPSHOT, "--membership", "-o", "out"],
    "knn": [SNAPSHOT, "-k", "16", "-o", "k.hdf5"],
    "density": [SNAPSHOT, "--grid", "256", "--interlace", "--power", "p.txt", "-o", "d.hdf5"],
    "ics": ["--num", "128", "--box-size", "50", "-o", "i.hdf5"],
}
ALWAYS = 0.1  # seconds that a run may spend between its phases, also on a busy machine


class Phases(CommandCase):
    def test_sum_of_phases_is_the_whole(self):
        self.succeed(*ARGUMENTS[PROGRAM.name], "--json", "report.json")
        result = json.loads((self.folder / "report.json").read_text())["result"]
        seconds = {phase["name"]: phase["seconds"] for phase in result["phases"]}
        self.assertGreater(len(seconds), 4)
        self.assertAlmostEqual(sum(seconds.values()), result["seconds"], places=6)
        self.assertLessEqual(seconds["other"], 0.05 * result["seconds"] + ALWAYS)


if __name__ == "__main__":
    main()
