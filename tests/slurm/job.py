"""A batch job of Slurm whose ranks can be stopped in any phase of their work."""

import os
import signal
import time
from pathlib import Path

from cluster import state_of, wait_until
from slurm_case import NODES, RANKS, SECONDS

SCRIPT = """#!/bin/bash
srun --mpi=pmix {options} fof {arguments}
echo "status $?"
"""
LAST_PHASE = "commit"
# In seconds: one step of ranks that are led to a phase, the time that their words mostly need to
# get here, and the time that they need at most where other tests keep all cores busy.
STEP, WORDS_ARRIVE, ALL_WORDS_ARRIVE = 0.003, 0.02, 1


def process_of(entry):
    """Path of the program and the variables of a process in /proc; nothing if it has ended."""
    try:
        program = os.readlink(entry / "exe")
        pairs = (entry / "environ").read_text().split("\0")
    except OSError:
        return "", {}
    return program, dict(pair.split("=", 1) for pair in pairs if "=" in pair)


class Job:
    """fof on six ranks of three nodes."""

    def __init__(self, case, *arguments, srun=(), sbatch=()):
        self.folder, self.cluster = case.folder, case.cluster
        self.output, script = case.folder / "output", case.folder / "job.sh"
        self.ranks = {}
        script.write_text(
            SCRIPT.format(options=" ".join(srun), arguments=" ".join(map(str, arguments)))
        )
        self.cluster.wait_for_nodes()
        words = case.succeed("sbatch", "-N", NODES, "-n", RANKS, "-o", self.output, *sbatch, script)
        self.number = words.split()[-1]

    def state(self):
        return self.cluster.state_of_job(self.number)

    def is_over(self):
        return self.state() not in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING")

    def words(self):
        return self.output.read_text() if self.output.exists() else ""

    def wait(self):
        """Its state and its output, once it has ended."""
        self.wait_until(self.is_over, "the job ends")
        return self.state(), self.words()

    def wait_until(self, condition, what):
        try:
            wait_until(condition, SECONDS, what)
        except TimeoutError as error:
            raise TimeoutError(
                f"{error}: {self.state()}\n{self.words()}\n" f"{self.cluster.logs()}"
            ) from error

    def has_all_ranks(self):
        """Finds process and node of each rank."""
        self.ranks = {}
        for entry in Path("/proc").glob("[0-9]*"):
            program, variables = process_of(entry)
            if Path(program).name == "fof" and variables.get("SLURM_JOB_ID") == self.number:
                location = int(entry.name), variables["SLURMD_NODENAME"]
                self.ranks[int(variables["SLURM_PROCID"])] = location
        return len(self.ranks) == RANKS

    def phases(self):
        """Those that have begun: rank 0 says so, a line for each."""
        return [
            line.split()[-1] for line in self.words().splitlines() if line.split()[1:2] == ["s"]
        ]

    def is_led_to(self, phase):
        """Leads its ranks to a phase by small steps; there they stand still. False if the phase was
        shorter than a step, and the job is over."""
        self.wait_until(lambda: self.has_all_ranks() or self.is_over(), "all ranks have begun")
        while LAST_PHASE not in self.phases() and not self.is_over():
            self.signal(signal.SIGSTOP)
            time.sleep(WORDS_ARRIVE)
            if self.is_in(phase):
                time.sleep(ALL_WORDS_ARRIVE)
                if self.is_in(phase) and self.stands_still():
                    return True
            self.resume()
            time.sleep(STEP)
        self.resume()
        self.wait()
        return False

    def is_in(self, phase):
        """As far as its words have arrived."""
        phases = self.phases()
        return phase in phases and LAST_PHASE not in phases

    def stands_still(self):
        """Each of its ranks is stopped; none has ended."""
        return all(state_of(process) == "T" for process, _ in self.ranks.values())

    def signal(self, number, nodes=None):
        """To all ranks, or to those of some nodes."""
        for process, node in self.ranks.values():
            if nodes is None or node in nodes:
                try:
                    os.kill(process, number)
                except ProcessLookupError:
                    pass

    def kill_rank(self, rank):
        os.kill(self.ranks[rank][0], signal.SIGKILL)

    def resume(self, *nodes):
        """Ranks of these nodes, or of all, run on."""
        self.signal(signal.SIGCONT, nodes or None)
