"""How tests run a program: in a folder, with nothing to read, as text."""

import subprocess


def run(command, folder, seconds, environment):
    """Exit status, output and errors; subprocess.TimeoutExpired after so many seconds."""
    result = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=seconds,
        env=environment,
        restore_signals=False,  # Open MPI's launcher may write to a rank that has just ended
    )
    return result.returncode, result.stdout, result.stderr


def start(command, folder, environment, **how):
    """A process whose output and errors can be read. `how`: for subprocess.Popen."""
    return subprocess.Popen(
        [*map(str, command)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **how,
    )
