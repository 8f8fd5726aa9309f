"""The virtual environment with the field's readers, and what runs in it.

  environment.py make FOLDER                    installs requirements.txt into FOLDER, once
  environment.py run FOLDER SCRIPT ARGUMENT...  runs a script by the Python of FOLDER

Exit status 77 means skipped: this Python makes no virtual environments, pip cannot reach its index,
or a wheel is missing for this Python and this machine. What else goes wrong is a failure.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
SKIPPED = 77
SECONDS = 840  # for pip; the test's own limit comes later
# What pip says when it is not to blame. It compiles nothing: what that needs may not be there.
REASONS = {
    "pip cannot reach its index": re.compile(
        r"ConnectionError|ConnectTimeout|ReadTimeout|Connection broken|ProxyError|SSLError"
        r"|Failed to establish a new connection|Temporary failure in name resolution"
        r"|HTTP error [45]\d\d"
    ),
    "a wheel is missing": re.compile(r"Could not find a version|No matching distribution"),
}


def skip(reason):
    print(f"readers: skipped: {reason}", flush=True)
    sys.exit(SKIPPED)


def wanted():
    """What a whole environment says of itself."""
    return f"Python {sys.version}\n{REQUIREMENTS.read_text(encoding='utf-8')}"


def is_whole(folder):
    """The last thing that is written says so: an install that was interrupted does not."""
    made = folder / "made_of.txt"
    return made.is_file() and made.read_text(encoding="utf-8") == wanted()


def run_shown(command):
    """Exit status and all output, which is also printed."""
    try:
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        skip(f"installing took more than {SECONDS} s")
    print(result.stdout, flush=True)
    return result.returncode, result.stdout


def install(folder):
    """Exit status and words of pip. Published wheels, and few tries where there is no network."""
    pip = [folder / "bin/python", "-m", "pip", "--no-input", "--disable-pip-version-check"]
    return run_shown(
        [
            *pip,
            "install",
            "--progress-bar",
            "off",
            "--retries",
            "2",
            "--only-binary",
            ":all:",
            "-r",
            REQUIREMENTS,
        ]
    )


def make(folder):
    if is_whole(folder):
        print(f"readers: {folder} is whole")
        return
    shutil.rmtree(folder, ignore_errors=True)
    status, _ = run_shown([sys.executable, "-m", "venv", folder])
    if status != 0:
        skip("this Python makes no virtual environments (Debian: python3-venv)")
    status, words = install(folder)
    if status != 0:
        for reason, pattern in REASONS.items():
            if pattern.search(words):
                skip(f"{reason}: {words.strip().splitlines()[-1]}")
        sys.exit(f"readers: pip ended with status {status}")
    (folder / "home").mkdir()
    (folder / "made_of.txt").write_text(wanted(), encoding="utf-8")


def run(folder, *command):
    if not is_whole(folder):
        skip("there is no environment; the test readers.environment says why")
    # A home of their own: the readers run as they come, not as somebody has set them up.
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "XDG_"))
    }
    python = str(folder / "bin/python")
    os.execve(python, [python, "-B", *command], {**variables, "HOME": str(folder / "home")})


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("make", "run"):
        sys.exit(__doc__)
    {"make": make, "run": run}[sys.argv[1]](Path(sys.argv[2]).absolute(), *sys.argv[3:])


if __name__ == "__main__":
    main()
