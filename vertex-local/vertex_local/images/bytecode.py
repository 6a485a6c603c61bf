"""Compile the modules of an environment: `python bytecode.py FOLDER`, by the Python of the environment.

Tests of packages and the installers are left out: jobs import none of them, and they are nearly half of all source.
"""

import compileall
import re
import sys
from pathlib import Path

UNUSED = re.compile(r"/(tests|pip|setuptools)/")


def compile_modules(folder: Path) -> None:
    """Compile the modules below a folder, in as many processes as there are processors. Files with errors stay."""
    compileall.compile_dir(folder, quiet=2, workers=0, rx=UNUSED)


if __name__ == "__main__":
    compile_modules(Path(sys.argv[1]))
