"""Installs the Python package for its tests, as users do: by pip, with a zhalo that is installed.

  install_package.py CMAKE BUILD ROOT FOLDER

BUILD is zhalo's build folder, and ROOT has the sources. The package goes to FOLDER/site. A warning
of the compiler is an error.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def main():
    cmake, build, root, folder = (Path(argument).absolute() for argument in sys.argv[1:])
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([cmake, "--install", build, "--prefix", folder / "prefix"], check=True)
    environment = {
        **os.environ,
        "CMAKE_PREFIX_PATH": str(folder / "prefix"),
        "SKBUILD_CMAKE_ARGS": "-DZHALO_WARNINGS_AS_ERRORS=ON",
    }
    pip = [sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check", "install"]
    options = ["--no-index", "--no-build-isolation", "--no-deps", "--target", folder / "site"]
    subprocess.run([*pip, *options, root / "python"], check=True, env=environment)


if __name__ == "__main__":
    main()
