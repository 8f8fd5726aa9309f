"""The command knn on several ranks, with the results of one, and interrupted.

knn_ranks_test.py PROGRAM DATA SNAPSHOTS
"""

import json
import signal
import subprocess
import time

import h5py
import numpy as np
from command_case import MPIEXEC, NEEDS_MPI, PROGRAM, SANITIZED, SECONDS, each, launcher
from knn_case import BOX, GADGET, KnnCase, main



class Interrupts(KnnCase):
    def test_interrupt_leaves_nothing(self):
        """At any time: status 130 and no file, or the whole file."""
        snapshot = GADGET / "snapshot_001.hdf5"
        start = time.monotonic()
        self.succeed(snapshot, "-k", 8, "-q", "-o", "out.hdf5")
        whole = time.monotonic() - start
        (self.folder / "out.hdf5").unlink()
        statuses = set()
        for step in range(0, 10, 3 if SANITIZED else 1):
            with subprocess.Popen(
                [PROGRAM, snapshot, "-k", "8", "-q", "-o", "out.hdf5"],
                cwd=self.folder,
                stderr=subprocess.PIPE,
                text=True,
            ) as process:
                time.sleep(whole * step / 8)
                process.send_signal(signal.SIGINT if step % 2 else signal.SIGTERM)
                errors = process.communicate(timeout=SECONDS)[1]
            statuses.add(process.returncode)
            if process.returncode == 0:
                self.assertEqual(self.files(), ["out.hdf5"])
                (self.folder / "out.hdf5").unlink()
            else:
                self.assertIn(
                    (process.returncode, errors),
                    [(130, "knn: error: interrupted\n"), (-15, ""), (-2, "")],
                )
                self.assertEqual(self.files(), [])
        self.assertIn(130, statuses)


@NEEDS_MPI
class Ranks(KnnCase):
    def on_ranks(self, ranks, *arguments):
        started_by = (MPIEXEC, "-n", str(ranks))
        status, _, errors = self.run_command(*arguments, "-q", launcher=started_by)
        self.assertEqual((status, errors), (0, ""))

    def check(self, *arguments, ranks=each(1, 2, 3), groups=("PartType1",)):
        """One file: the same bytes. A file per rank: the same rows one after the other."""
        self.succeed(*arguments, "-q", "-o", "one.hdf5")
        for number in ranks:
            with self.subTest(arguments=arguments, ranks=number):
                self.on_ranks(number, *arguments, "-o", "single.hdf5", "--files", 1)
                self.assertEqual(
                    (self.folder / "single.hdf5").read_bytes(),
                    (self.folder / "one.hdf5").read_bytes(),
                )
                self.on_ranks(number, *arguments, "-o", "many.hdf5")
                for group in groups:
                    expected, ours = self.results("one", group), self.results("many", group)
                    self.assertEqual(sorted(ours), sorted(expected))
                    for name, values in expected.items():
                        np.testing.assert_array_equal(ours[name], values)

    def test_lists_and_reductions(self):
        self.snapshot({1: 1500}, num_files=2)
        self.check(
            "snapshot_007", "-k", 8, "--lists", "--reduce", "kth,mean-radius,density,sigma-v"
        )

    def test_real(self):
        self.check(GADGET / "snapshot_001.hdf5", "-k", 8, ranks=each(2, 3))

    def test_types_and_queries(self):
        self.snapshot({0: 400, 1: 700}, num_files=3, kind=np.float64)
        self.snapshot({0: 40, 1: 70}, name="other_001", seed=2)
        self.check(
            "snapshot_007", "-k", 5, "--types", "0,1", groups=("PartType0", "PartType1"), ranks=(3,)
        )
        self.check("snapshot_007", "-k", 5, "--query", "other_001", ranks=(2,))
        with h5py.File(self.folder / "points.hdf5", "w") as file:
            file["Coordinates"] = np.random.default_rng(5).uniform(0, BOX, (3, 3))
        self.check(
            "snapshot_007",
            "-k",
            5,
            "--query",
            "points.hdf5",
            "--reduce",
            "density",
            ranks=(5,),
            groups=("Query",),
        )

    def test_report_counts_the_work_of_all_ranks(self):
        """Each query is tested with all particles, and each rank fetches those of the other."""
        self.snapshot({1: 300})
        for ranks in (1, 2):
            self.on_ranks(ranks, "snapshot_007", "-k", 300, "-o", "out", "--json", "r.json")
            search = json.loads((self.folder / "r.json").read_text())["result"]["search"]
            self.assertGreaterEqual(search["pairs_tested"], 300 * 300)
            self.assertEqual(search["fetched"], 300 * (ranks - 1))

    def test_fewer_particles_than_ranks(self):
        self.snapshot({1: 3})
        for options in ((), ("--exclude-self",), ("--reduce", "density")):
            self.assertEqual(
                self.run_command("snapshot_007", "-k", 2, "-q", "-o", "one", *options)[0], 0
            )
            status, _, errors = self.run_command(
                "snapshot_007", "-k", 2, "-q", "-o", "five", *options, launcher=launcher(5)
            )
            self.assertEqual((status, errors), (0, ""))
            expected, ours = self.results("one"), self.results("five")
            for name, values in expected.items():
                np.testing.assert_array_equal(ours[name], values)


if __name__ == "__main__":
    main()
