"""Times zhalo beside other codes, on the same points, and compares their results.

The command is scripts/compare-peers. Its parts:

- `options`: the command line.
- `running`: programs that are run, zhalo_bench among them, and what is said of the machine.
- `peer`: what a peer is. `worker`: a peer in a process of its own, and how it is asked to work.
- `groups`, `neighbours`, `painting`, `power`: one kind of work each. Which peers there are, which
  cases, what zhalo does, and when two results are the same.
- `transforms`: Fourier transforms, which zhalo_fft_bench times beside FFTW by itself.
- `agreement`: the rules of groups and neighbours, which scripts/gpu-compare has too.
- `timing`: runs everybody in turns.
- `report`: tables, JSON, and lines about what is not here. `plots`: the pictures.

A new peer is a class in the file of its kind, and its place in PEERS there.
"""
