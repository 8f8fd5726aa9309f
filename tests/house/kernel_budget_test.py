"""scripts/kernel-budget reads what the assembler says, and names what is above its budget."""

import importlib.machinery
import importlib.util
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/kernel-budget"


def load(path):
    loader = importlib.machinery.SourceFileLoader("kernel_budget", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


FILL = "_ZN5zhalo7kernels12run_for_eachINS0_4FillEEEvlT_"
LINK = "_ZN5zhalo7kernels17run_for_each_itemINS0_4LinkIfEENS0_9WarpLanesIfEELm4672EEEvlT_T0_"
ASSEMBLER = f"""
ptxas info    : Compiling entry function '{FILL}' for 'sm_90'
ptxas info    : Function properties for {FILL}
    16 bytes stack frame, 20 bytes spill stores, 44 bytes spill loads
ptxas info    : Used 98 registers, used 1 barriers, 512 bytes smem
ptxas info    : Compiling entry function '{LINK}' for 'sm_90'
ptxas info    : Used 80 registers, used 1 barriers
ptxas info    : Compiling entry function '{FILL}' for 'sm_80'
ptxas info    : Used 99 registers, used 1 barriers
ptxas info    : Compiling entry function '{FILL}' for 'sm_90'
ptxas info    : Used 97 registers, used 1 barriers, 516 bytes smem
ptxas info    : Compiling entry function '_ZN3cub4sortEv' for 'sm_90'
ptxas info    : Used 255 registers, used 0 barriers
"""


class KernelBudget(unittest.TestCase):
    def setUp(self):
        self.script = load(SCRIPT)

    def test_reading(self):
        self.assertEqual(
            self.script.read_kernels(ASSEMBLER),
            {
                "run_for_each<Fill>": [98, 20, 516, 0],
                "run_for_each_item<Link<float>, WarpLanes<float> >": [80, 0, 0, 4672],
            },
        )
        with self.assertRaisesRegex(SystemExit, "does not say with how much shared memory"):
            self.script.read_kernels(ASSEMBLER.replace("ELm4672E", "E"))

    def test_differences(self):
        def differences(*granted):
            return list(self.script.differences({"link": taken}, {"link": list(granted)}))

        taken = [98, 20, 512, 4672]
        self.assertEqual(differences(98, 20, 512, 4672), [])
        self.assertEqual(differences(97, 20, 512, 4672), ["link: registers 98, its budget is 97"])
        self.assertEqual(differences(98, 19, 512, 4672), ["link: spilled 20, its budget is 19"])
        self.assertEqual(differences(98, 20, 511, 4672), ["link: shared 512, its budget is 511"])
        self.assertEqual(
            differences(98, 20, 512, 4671), ["link: shared_at_launch 4672, its budget is 4671"]
        )
        self.assertEqual(list(self.script.differences({"link": taken}, {})), ["link has no budget"])
        self.assertEqual(
            list(self.script.differences({}, {"link": taken})),
            ["link has a budget and does not exist"],
        )

    def test_file(self):
        _, budget = self.script.read_budget()
        self.assertTrue(any("FindFewNearest" in name for name in budget))
        self.assertTrue(all(registers > 0 for registers, *_ in budget.values()))
        at_launch = [row[3] for name, row in budget.items() if name.startswith("run_for_each_item")]
        self.assertTrue(at_launch and all(shared > 0 for shared in at_launch))


if __name__ == "__main__":
    unittest.main()
