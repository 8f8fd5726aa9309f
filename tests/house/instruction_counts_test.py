"""scripts/instruction-counts reads what callgrind writes, and names the calls that grew."""

import importlib.machinery
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True


def load(path):
    loader = importlib.machinery.SourceFileLoader("instruction_counts", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class InstructionCounts(unittest.TestCase):
    def setUp(self):
        self.script = load(ROOT / "scripts/instruction-counts")

    def test_reading(self):
        dump = "events: Ir\nsummary: 18\n\nfn=(1) work\n3 18\ntotals: 18\n"
        self.assertEqual(self.script.total_of(dump), 18)

    def wrong(self, **found):
        return self.script.table(found, {"link": 1000, "paint": 200})[1]

    def test_growth(self):
        self.assertEqual(self.wrong(link=1000, paint=200), [])
        self.assertEqual(self.wrong(link=1050, paint=100), [])
        self.assertEqual(self.wrong(link=1051, paint=200), ["link"])

    def test_cases_must_be_the_same(self):
        self.assertEqual(self.wrong(link=1000), ["paint"])
        self.assertEqual(self.wrong(link=1000, paint=200, sort=1), ["sort"])

    def test_what_is_written_can_be_read(self):
        counts = {"link": 1000, "paint": 200}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "counts.csv")
            self.script.write_counts("compiler 1; AVX2", counts, path)
            self.assertEqual(self.script.read_counts(path), ("compiler 1; AVX2", counts))

    def test_file(self):
        written_with, counts = self.script.read_counts()
        self.assertIn("compiler", written_with)
        self.assertIn("AVX2", written_with)
        parts = ("fof", "catalogue", "knn", "paint", "readout", "fft", "power_spectrum")
        self.assertEqual({name.split("/")[0] for name in counts}, set(parts))
        self.assertTrue(all(number > 0 for number in counts.values()))
        source = (ROOT / "apps/bench/instructions.cpp").read_text()
        self.assertIn(f"void {self.script.COUNTED}(", source)


if __name__ == "__main__":
    unittest.main()
