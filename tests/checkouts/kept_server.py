"""Fork servers that end with this process."""

import atexit
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from . import fork_client, fork_server

_PYTHON = """#!/bin/sh
[ "$1 $2 $3" = "-I -m slipway" ] || exec {python} "$@"
shift 3
{server}={socket} exec {client} {slipway} "$@"
"""


@cache
def kept(what: str) -> str:
    """Return the socket of a server with the imports of `what`."""
    path = Path(tempfile.mkdtemp(prefix="forks-")) / "socket"
    atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
    _processes.append(fork_server.started(path, what))
    return str(path)


@cache
def forking_python() -> Path:
    """Return a folder with a `python` whose `-I -m slipway` is forked, for the PATH of scripts that start it often."""
    if sys.platform != "linux":
        return Path(sys.executable).parent
    socket = kept(fork_server.SLIPWAY)
    script = Path(socket).with_name("python")
    words = {"server": fork_client.SERVER, "socket": socket, "client": fork_server.client()}
    script.write_text(_PYTHON.format(python=sys.executable, slipway=fork_server.SLIPWAY, **words))
    script.chmod(0o755)
    return script.parent


_processes = list[subprocess.Popen[bytes]]()
