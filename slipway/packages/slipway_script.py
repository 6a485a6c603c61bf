"""Runs a command in somebody's folder, which came with the job's package, and keeps what it writes.

The folder is unpacked anew for each start. It is the command's working folder, and its modules can be imported. What
`--data` names is fetched to `$SLIPWAY_DATA` before, and what the command writes to `$SLIPWAY_OUTPUT` is copied to the
job's output: every half a minute the files that no longer change, all of them when the machine gives notice (SIGTERM),
and at the end, however it ends. A job that is started again finds there what it had kept.

No shell reads the command. Its exit code is the job's. Like the launcher, which is beside it in the package, it runs
inside prebuilt training images, hence: standard library only, and nothing newer than Python 3.8.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Mapping  # noqa: UP035 (Python 3.8)

if TYPE_CHECKING:
    from slipway.packages import slipway_launcher as launcher
    from slipway.packages.slipway_results import Results, Storage, StorageError
else:
    import slipway_launcher as launcher
    from slipway_results import Results, Storage, StorageError

FOLDER = Path(__file__).with_name("slipway_script_folder") / "folder.tar"
LOOK_S = 0.5
EVERY_S = 30.0
LAST_WORDS_S = 20.0


class Command:
    """A running command, in a group of processes of its own: a notice reaches what it started, too."""

    def __init__(self, words: list[str], cwd: Path, environ: Mapping[str, str]) -> None:
        self.noticed = False  # No lock, which a second signal would wait for within the first.
        self.process: subprocess.Popen[bytes] | None = None
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.forward)
        self.process = subprocess.Popen(words, cwd=cwd, env=dict(environ), start_new_session=True)
        if self.noticed:
            self.forward()

    def forward(self, *_: object) -> None:
        """Hand a notice on. It is SIGTERM, as the service sends."""
        self.noticed = True
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGTERM)

    def wait(self) -> int:
        """Its exit code; of one that a signal ended, 128 and the signal's number, as shells have it."""
        assert self.process is not None, "set when it was made"
        code = self.process.wait()
        until = time.monotonic() + LAST_WORDS_S
        while self.noticed and not gone(self.process.pid) and time.monotonic() < until:
            time.sleep(0.05)  # A shell ends at once, and what it ran may still be writing.
        return 128 - code if code < 0 else code


def gone(group: int) -> bool:
    """Tell whether no process of a group is left."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-group, os.WNOHANG)[0]:
            pass
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return True
    return False


def own_python(words: list[str]) -> list[str]:
    """The command with the Python that has the requirements: the image may call another one so."""
    return [sys.executable, *words[1:]] if words[0] in ("python", "python3") else words


def unpack(folder: Path) -> None:
    """Put the job's files into a new folder."""
    folder.mkdir()
    with tarfile.open(FOLDER) as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(folder, filter="data")
        else:
            archive.extractall(folder)


def environment(place: Path, environ: Mapping[str, str], *, data: bool) -> dict[str, str]:
    """Variables of the command: its folders, its modules, and a PATH that begins beside this Python."""
    code, programs = str(place / "code"), os.path.dirname(sys.executable)  # noqa: PTH120
    found = {"PYTHONUNBUFFERED": "1", **environ, "SLIPWAY_OUTPUT": str(place / "output")}
    found["PATH"] = os.pathsep.join([programs, environ.get("PATH", os.defpath)])
    found["PYTHONPATH"] = os.pathsep.join([code, *filter(None, [environ.get("PYTHONPATH")])])
    return {**found, "SLIPWAY_DATA": str(place / "data")} if data else found


def say(text: str) -> None:
    print("slipway: " + text, flush=True)


def run(words: list[str], data: str, output: str, environ: Mapping[str, str]) -> int:
    """The command's exit code, with all kept that it wrote; CANNOT_TELL when something could not be."""
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises where there is none
    place = Path(tempfile.mkdtemp(prefix="slipway-", dir=home if os.access(home, os.W_OK) else None))
    try:
        unpack(place / "code")
        storage = Storage(environ)
        try:
            fetch(storage, place, data, output)
        except (OSError, StorageError) as error:
            return launcher.refuse(
                "what the command needs can't be fetched, so it does not start",
                str(error),
                "data is gs://BUCKET/FOLDER, or one object there, which the job's service account may read",
            )
        results = Results(place / "output", output, storage)
        try:
            command = Command(words, place / "code", environment(place, environ, data=bool(data)))
        except (OSError, ValueError) as error:
            return launcher.refuse(
                f"can't run {words[0]!r}",
                str(error),
                "no shell reads the command; with one it is bash -c '…', with variables env NAME=VALUE …",
            )
        return followed(command, results)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def fetch(storage: Storage, place: Path, data: str, output: str) -> None:
    """Fetch the data, and what an earlier start has kept. Raises StorageError and OSError."""
    for name in ("data", "output"):
        (place / name).mkdir()
    if data and not storage.fetch(data, place / "data"):
        raise StorageError(f"nothing is at {data}")
    if earlier := storage.fetch(output, place / "output"):
        say(f"files of an earlier start in $SLIPWAY_OUTPUT: {earlier}")


def followed(command: Command, results: Results) -> int:
    """The command's exit code at its end, with all results kept."""
    over = threading.Event()
    watcher = threading.Thread(target=watch, args=(command, results, over), daemon=True)
    watcher.start()
    code = command.wait()
    over.set()
    watcher.join()
    try:
        results.keep()
    except (OSError, StorageError) as error:
        unkept = launcher.refuse(
            f"not all that the command wrote is kept; it ended with {code}",
            f"{results.uri}: {error}",
            "give the job's service account roles/storage.objectUser on that bucket, then submit again",
        )
        return code or unkept
    nothing = "" if results.kept else ", as nothing was written into $SLIPWAY_OUTPUT"
    say(f"the command ended with {code}; files kept: {len(results.kept)}{nothing}")
    return code


def watch(command: Command, results: Results, over: threading.Event) -> None:
    """Keep results while the command runs. What can't be kept now is tried again, at the end at the latest."""

    def pause(seconds: float) -> None:
        if over.wait(seconds):
            raise StorageError("the command has ended")

    looked = time.monotonic()
    while not over.wait(LOOK_S):
        noticed = command.noticed
        if noticed or time.monotonic() - looked >= EVERY_S:
            try:
                results.keep(settled=not noticed, sleep=pause)
            except (OSError, StorageError) as error:
                say(f"not kept yet: {error}")
            looked = time.monotonic()
        if noticed:
            return


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    parser = argparse.ArgumentParser(prog="slipway_script", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--command", required=True, help="what to run, as typed; no shell reads it")
    parser.add_argument("--data", default="", help="gs:// folder or object, fetched to $SLIPWAY_DATA")
    parser.add_argument("--output", required=True, help="gs:// folder for what is written to $SLIPWAY_OUTPUT")
    options = parser.parse_args(argv)
    try:
        words = shlex.split(options.command)
    except ValueError as error:
        return launcher.refuse(f"the command can't be read: {options.command}", str(error), "close every quote")
    if not words:
        return launcher.refuse("the command is empty", "there is nothing to run", '-p command="python train.py"')
    say("runs " + " ".join(map(shlex.quote, words)))
    return run(own_python(words), options.data, options.output, environ)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
