"""Inside a job: `pip install --user` works as in a container, and its packages can be imported.

A virtual environment hides the folder that it installs into, so pip refuses. An environment for a job therefore says
that it shows what is outside of it (see `preparation`). With the user's folder, which is in the replica's own home,
that would show the packages of this machine's own Python, which no image has. So this module runs as the interpreter
starts, when `site` has looked into the environment and before it looks outside, and lets it find the user's folder
alone. It runs in the job's interpreter, whatever that is: the standard library only.
"""

import site
import sys
from collections.abc import Iterable

_everywhere = site.getsitepackages


def _in_the_environment(prefixes: Iterable[str] | None = None) -> list[str]:
    """Return the folders of packages below the prefixes; below the environment's alone when none are named."""
    return _everywhere((sys.prefix,) if prefixes is None else prefixes)


if sys.prefix != sys.base_prefix:
    site.getsitepackages = _in_the_environment
