"""Runs zhalo and its peers in turns, compares what they found, and makes rows of figures."""

import contextlib
import importlib

from compare_peers.running import Bench, Failure, stay_on_cores
from compare_peers.worker import Worker


def kind_of(name):
    return importlib.import_module(f"compare_peers.{name}")


def find_peers(options, kind):
    """{name: version} of those that are here, and a line for each of the others."""
    found, lines = {}, []
    for name in kind_of(kind).PEERS:
        if options.peers and name not in options.peers:
            continue
        try:
            with Worker(options, kind, name) as worker:
                about = worker.about
        except Failure as failure:
            about = {"absent": str(failure)}
        if "absent" in about:
            lines.append(f"{kind}: {name} is not found: {about['absent']}")
        else:
            found[name] = about["version"]
    return found, lines


def cases(options, kind, bench):
    """Every case on the first number of threads; those with most points on the others, too."""
    order = " in Z-order" if options.order == "z-order" else ""
    for points in options.points:
        for num in options.num:
            path, count = bench.points(points, num), int(float(num))
            last = num == options.num[-1]
            for problem in kind_of(kind).problems(options, path, count):
                for threads in options.threads if last else options.threads[:1]:
                    about = {"name": f"{points} {num}{order}", "num": count, "threads": threads}
                    slow = problem.get("slow", True) and count <= options.slow_num
                    yield {**problem, **about, "slow": slow}


class Turns:
    """One case: zhalo, and those peers that can do it."""

    def __init__(self, options, kind, bench, problem):
        self.options, self.kind, self.bench = options, kind, bench
        self.module, self.problem = kind_of(kind), problem
        self.references, self.failures = set(), []

    def can(self, name):
        peer = self.module.PEERS[name]
        too_slow = peer.slow and not self.problem["slow"]
        return not too_slow and not (peer.serial and self.problem["threads"] > 1)

    def why_differ(self, name, worker):
        """None if the peer has found the same."""
        peer = self.module.PEERS[name]
        ours = self.bench.folder / f"zhalo-{peer.periodic}-{peer.compensation}.raw"
        if ours not in self.references:
            self.module.write_zhalo(self.bench, self.problem, peer, ours)
            self.references.add(ours)
        theirs = self.bench.folder / "peer.raw"
        worker.ask(f"write {theirs}")
        return self.module.why_differ(self.problem, ours, theirs, peer.periodic)

    def start(self, peers, stack):
        """{name: worker}, {name: its first call}, {name: why it differs}. A peer that fails is left
        out of this case."""
        workers, firsts, whys = {}, {}, {}
        for name in filter(self.can, peers):
            try:
                worker = stack.enter_context(Worker(self.options, self.kind, name, self.problem))
                if "absent" in worker.about:
                    continue  # it can do other cases
                firsts[name] = worker.ask("first")
                whys[name] = self.why_differ(name, worker)
                workers[name] = worker
            except Failure as failure:
                where = f"{self.kind}, {self.problem['name']}, {self.problem['what']}"
                self.failures.append(f"{where}: {failure}")
        return workers, firsts, whys

    def run(self, peers):
        """Rows, one for each variant of each peer; one for zhalo alone if there is none."""
        stay_on_cores(self.problem["threads"], self.options.cpu)
        with contextlib.ExitStack() as stack:
            workers, firsts, whys = self.start(peers, stack)
            ours, theirs = [], {name: [] for name in workers}
            for _ in range(self.options.repetitions):
                for name, worker in workers.items():
                    theirs[name].append(worker.ask("call")["times"])
                ours.append(self.module.zhalo(self.bench, self.problem))
        rows = []
        for name in workers:
            for variant in theirs[name][0]:
                times = [turn[variant] for turn in theirs[name]]
                first = {"first": firsts[name]["times"][variant], "bytes": firsts[name]["bytes"]}
                peer = {"name": variant, "version": peers[name], "runs": times, **first}
                rows.append(self.row(ours, peer, whys[name]))
        return rows or [self.row(ours, None, None)]

    def row(self, ours, peer, why):
        return {
            "kind": self.kind,
            **{key: self.problem[key] for key in ("name", "what", "num", "threads")},
            "clock": "cpu" if self.problem["threads"] == 1 else "wall",
            "zhalo": ours,
            "zhalo_context": {
                key: value
                for key, value in self.bench.context.items()
                if key.startswith(("zhalo", "processor"))
            },
            "peer": peer,
            "agree": why is None,
            "why": why,
        }


def rows_of(options, kind, peers, folder, tell_failure):
    """One after the other, as they are there."""
    bench = Bench(options, folder)
    for problem in cases(options, kind, bench):
        turns = Turns(options, kind, bench, problem)
        try:
            yield from turns.run(peers)
        finally:
            stay_on_cores(0)
        for line in turns.failures:
            tell_failure(line)
