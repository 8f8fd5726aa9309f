"""A peer in a process of its own: it shares neither memory nor threads with others, and may belong
to another Python.

  worker.py KIND PEER OPTIONS [PROBLEM]     OPTIONS and PROBLEM are JSON

It prints one line of JSON with the peer's version, or why it is absent. With a problem it then
answers each line of its input with one line of JSON: "first" and "call" do the work, "write PATH"
writes what came out.
"""

import contextlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KINDS = ("groups", "neighbours", "painting", "power")


def peers_of(kind):
    return importlib.import_module(f"compare_peers.{kind}").PEERS


def resident(key):
    """Bytes of VmRSS (now) or VmHWM (peak), from Linux's /proc."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    return 0


def timed(peer):
    """The result of a call, and its seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = peer.call()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    own = peer.seconds()
    if own is None:
        return result, {peer.title: {"cpu": cpu, "wall": wall}}
    return result, {name: {"cpu": value, "wall": value} for name, value in own.items()}


def first(peer):
    """The first call of the process also pays for memory that is new."""
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    result, times = timed(peer)
    grown = resident("VmHWM") - before
    # A peer with clocks of its own is another program, whose memory is not known here.
    return result, {"times": times, "bytes": grown if peer.seconds() is None else None}


def serve(peer, lines, tell):
    result = None
    for line in lines:
        word, _, path = line.strip().partition(" ")
        if word == "write":
            peer.write(result, path)
            tell({})
        elif word == "first":
            result, answer = first(peer)
            tell(answer)
        else:
            result, times = timed(peer)
            tell({"times": times})


def main(kind, name, options, problem=None):
    from compare_peers.peer import Absent

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # some codes print while they work

    def tell(answer):
        print(json.dumps(answer), file=answers, flush=True)

    try:
        peer = peers_of(kind)[name](json.loads(options))
        if problem is not None:
            peer.prepare(json.loads(problem))
    except Absent as absent:
        tell({"absent": str(absent)})
        return
    tell({"version": peer.version})
    if problem is not None:
        serve(peer, sys.stdin, tell)


class Worker:
    """That process, as the script sees it. Failure if it ends before its time."""

    def __init__(self, options, kind, name, problem=None):
        words = [options.python, "-B", __file__, kind, name, json.dumps(options.peer_paths)]
        words += [] if problem is None else [json.dumps(problem)]
        threads = str(1 if problem is None else problem["threads"])
        limits = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
        environment = {**os.environ, **{name: threads for name in limits}}
        self.name, self.errors = name, tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [str(word) for word in words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=environment,
        )
        self.about = self.answer()

    def answer(self):
        from compare_peers.running import Failure

        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.errors.seek(0)
            lines = self.errors.read().strip().split("\n")
            raise Failure(f"{self.name} failed: {lines[-1]}")
        return json.loads(line)

    def ask(self, words):
        with contextlib.suppress(BrokenPipeError):  # answer() says why
            self.process.stdin.write(words + "\n")
            self.process.stdin.flush()
        return self.answer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for file in (self.process.stdin, self.process.stdout, self.errors):
            with contextlib.suppress(BrokenPipeError):
                file.close()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    main(*sys.argv[1:])
