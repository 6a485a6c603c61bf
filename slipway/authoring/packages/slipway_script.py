"""Runs a command in somebody's folder, which came with the job's package, without a shell.

The folder is unpacked anew for each start. It is the command's working folder, and its modules can be imported. Its
input `data`, which the launcher has copied, is `$SLIPWAY_DATA` too; what it writes to `$SLIPWAY_OUTPUT` is kept.

Its exit code is the job's. Like the launcher, which is beside it in the package, it runs inside prebuilt training
images, hence: standard library only, and nothing newer than Python 3.8.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import Mapping  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_command import unpack
from slipway.authoring.packages.slipway_launcher import refuse
from slipway.authoring.packages.slipway_results import say

FOLDER = Path(__file__).with_name("slipway_script_folder") / "folder.tar"


def run(words: list[str], environ: Mapping[str, str]) -> int:
    """Replace this process by the command; return an exit code where it can't be."""
    place = Path(environ["SLIPWAY_OUTPUT"]).parent  # The launcher's folder, which goes with the job.
    unpack(FOLDER, place / "code")
    data = environ.get("SLIPWAY_INPUT_DATA")
    variables = {"PYTHONUNBUFFERED": "1", **environ, **({"SLIPWAY_DATA": data} if data else {})}
    programs = os.path.dirname(sys.executable)  # noqa: PTH120 - the folder of this Python, whatever it is a link to
    variables["PATH"] = os.pathsep.join([programs, environ.get("PATH", os.defpath)])
    variables["PYTHONPATH"] = os.pathsep.join([str(place / "code"), *filter(None, [environ.get("PYTHONPATH")])])
    os.chdir(place / "code")
    try:
        os.execvpe(words[0], words, variables)
    except (OSError, ValueError) as error:
        return refuse(
            f"can't run {words[0]!r}",
            str(error),
            "no shell reads the command; with one it is bash -c '…', with variables env NAME=VALUE …",
        )


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    parser = argparse.ArgumentParser(prog="slipway_script", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--command", required=True, help="what to run, as typed; no shell reads it")
    parser.add_argument("--output", help="gs:// folder where the launcher keeps what is written to $SLIPWAY_OUTPUT")
    options = parser.parse_args(argv)
    try:
        words = shlex.split(options.command)
    except ValueError as error:
        return refuse(f"the command can't be read: {options.command}", str(error), "close every quote")
    if not words:
        return refuse("the command is empty", "there is nothing to run", '-p command="python train.py"')
    say("runs " + " ".join(map(shlex.quote, words)))
    if words[0] in ("python", "python3"):
        words[0] = sys.executable  # It has the requirements; the image may call another one so.
    return run(words, environ)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
