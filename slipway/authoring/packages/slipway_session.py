"""Holds a job's machine for its owner, and runs there what they send, one command after the other.

It is what a session's job runs. A request is looked for twice a second, by its number, and started once: whoever
creates the mark that it has started runs it. A start of the job that finds such a mark of an earlier one, which lost
its machine, says that the run is lost, and goes on with the next. The folder is as a request has it when its command
starts, but for files that commands have written beside these.

It ends by itself, by a request of its own in the place of the next one: so no request is ever left without an answer.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Mapping  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_command import adopt, gone, scripted
from slipway.authoring.packages.slipway_exchange import (
    LOOK_S,
    LOST,
    Exchange,
    Part,
    Request,
    ended_name,
    metrics_name,
    part_name,
    request_name,
    started_name,
    stop_name,
)
from slipway.authoring.packages.slipway_http import StorageError
from slipway.authoring.packages.slipway_launcher import CANNOT_TELL, cluster, replica
from slipway.authoring.packages.slipway_notify import REASON, after
from slipway.authoring.packages.slipway_output import Output
from slipway.authoring.packages.slipway_placed import Files
from slipway.authoring.packages.slipway_results import CHIEF, say
from slipway.authoring.packages.slipway_start import problem
from slipway.authoring.packages.slipway_storage import RefusedError, Storage
from slipway.authoring.packages.slipway_warm import Warm

INTERRUPTED, TERMINATED = 130, 143
NO_PROGRAM = 127
AGAIN = "run it again"
LAST_WORDS_S = 5.0
STOPPED_S = 20.0
"""The seconds that a run has for its last words once its session is to end."""
METRICS, MOST_METRICS = "metrics.json", 1_000_000
"""The file of a run's metrics, and the most bytes of it that are sent."""
TICK_S = 0.1
# The least seconds between two parts of a run's output, by the run's age: each part costs.
PACES = ((60.0, 1.0), (5.0, 0.5), (0.0, TICK_S))


class LateError(Exception):
    """A later start of the session's job has taken its place."""


class NoProgramError(RefusedError):
    """A command whose program is not on this machine."""


class Session:
    """A session on one replica of its job. `start` tells this start of the job from all others, and earlier ones are
    less."""

    def __init__(
        self,
        exchange: Exchange,
        start: str,
        environ: Mapping[str, str],
        files: Files,
        warm: Warm,
        *,
        until: float = math.inf,
        longest: float = math.inf,
    ) -> None:
        self.exchange, self.start, self.environ, self.files, self.warm = exchange, start, environ, files, warm
        self.until, self.longest = until, longest
        self.name, self.alone = replica(environ), sum(map(len, cluster(environ).values())) < 2
        self.number, self.group, self.noticed = 1, 0, False
        #: The run that an earlier start lost, and its command; None before that was looked up.
        self.lost: tuple[int, str] | None = None

    def notice(self, *_: object) -> None:
        """Hand a notice on that the machine goes."""
        self.noticed = True
        self.signal(signal.SIGTERM)

    def signal(self, number: signal.Signals) -> None:
        if self.group:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.group, number)

    def resume(self) -> None:
        """Tell which files are here; take what was sent to earlier starts, and tell what they lost."""
        files = {name: digest for name, (digest, _, _) in self.files.placed.items()}
        executable = tuple(name for name, (_, executable, _) in self.files.placed.items() if executable)
        begins = Request(self.start, "", files=files, executable=executable)
        self.exchange.take(request_name(0), begins.packed({}))
        there = set(self.exchange.names("runs"))
        while request_name(self.number) in there:
            if ended_name(self.number, self.name) not in there:
                if started_name(self.number, self.name) in there:
                    self.abandon()
                elif stop_name(self.number, 1) in there:
                    self.end(Part(self.start, code=INTERRUPTED), 1)
                else:
                    return
            request = self.request()
            if request is None or request.closed:
                return
            self.number += 1

    def abandon(self) -> None:
        """Tell that an earlier start of the job had begun a run, which is lost."""
        place = 1
        while packed := self.exchange.read(part_name(self.number, self.name, place)):
            if (part := Part.read(packed)).code is not None:  # It had come to its end, and the mark alone is missing.
                self.exchange.take(ended_name(self.number, self.name), part._replace(output=()).packed())
                return
            place += 1
        say(f"run {self.number} is lost: {LOST}")
        self.end(Part(self.start, code=TERMINATED, lost=LOST), place)
        self.stop_others()

    def stop_others(self) -> None:
        """Interrupt the run on the other replicas, which would wait for this one."""
        if not self.alone:
            self.exchange.take(stop_name(self.number, 1), self.name.encode())

    def end(self, part: Part, place: int) -> None:
        """Tell how a run ended, by the last part of its output."""
        self.send(part, place)
        self.exchange.take(ended_name(self.number, self.name), part._replace(output=()).packed())

    def send(self, part: Part, place: int) -> None:
        if not self.exchange.take(part_name(self.number, self.name, place), part.packed()):
            raise LateError

    def request(self) -> Request | None:
        """Return the request of this number, with its contents taken; None where there is none yet."""
        packed = self.exchange.read(request_name(self.number))
        if packed is None:
            return None
        request, contents = Request.read(packed)
        self.files.take(contents)
        return request

    def close(self, why: str) -> None:
        """End the session in place of its next run, unless a request was sooner."""
        closing = Request(self.start, "", closed=why).packed({})
        self.exchange.take(request_name(self.number), closing)

    def run(self, request: Request) -> None:
        """Run a request, once, and tell how it ended. Raises LateError."""
        mark = started_name(self.number, self.name)
        if not self.exchange.take(mark, self.start.encode()):
            if (self.exchange.read(mark) or b"").decode() > self.start:
                raise LateError
            self.abandon()
            return
        say(f"run {self.number}, sent by {request.by}")
        output = Output()
        try:
            self.files.put(request)
            process, readers = self.started(request, output)
        except (RefusedError, OSError) as error:
            told = error.args if isinstance(error, RefusedError) else ("the run did not start", error, AGAIN)
            output.add(2, "error: {}\n  why: {}\n  fix: {}\n".format(*told))
            code = NO_PROGRAM if isinstance(error, NoProgramError) else CANNOT_TELL
            self.end(Part(self.start, output.taken(), code), 1)
        else:
            self.follow(process, readers, output)

    def started(self, request: Request, output: Output) -> tuple[Any, list[threading.Thread]]:
        words = scripted([f"--command={request.command}"])
        variables = {**self.environ, "SLIPWAY_RUN": str(self.number), **self.kept_in(request, output)}
        if port := variables.get("MASTER_PORT"):  # What an earlier run left there is met by nobody.
            variables["MASTER_PORT"] = str(int(port) + self.number % 1000)
        if self.warm.takes(words):
            pipes = [os.pipe(), os.pipe()]
            try:
                process: Any = self.warm.become(words, variables, self.files.folder, [own for _, own in pipes])
            finally:
                for _, own in pipes:
                    os.close(own)
            streams: list[Any] = [os.fdopen(theirs, "rb") for theirs, _ in pipes]
        else:
            try:
                process = subprocess.Popen(
                    words,
                    env=variables,
                    cwd=self.files.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
            except OSError as error:
                raised = NoProgramError if isinstance(error, FileNotFoundError) else RefusedError
                raise raised(*problem(words, variables, self.files.folder, error)) from error
            streams = [process.stdout, process.stderr]
        self.group = process.pid
        if self.noticed:
            self.signal(signal.SIGTERM)
        return process, [output.read(stream, number) for number, stream in enumerate(streams, 1)]

    def kept_in(self, request: Request, output: Output) -> dict[str, str]:
        """Return the variable with the run's own folder, of which files are kept: what an earlier run has left where
        that is asked for, or where an earlier start lost this very command, and empty for others."""
        whole = self.environ.get("SLIPWAY_OUTPUT", "")
        if not whole:
            return {}
        own, left = Path(whole, f"run-{self.number}"), self.left(request, Path(whole))
        if left:
            left.rename(own)
            output.add(2, f"slipway: goes on with what run {left.name[len('run-') :]} has left of $SLIPWAY_OUTPUT\n")
        own.mkdir(exist_ok=True)
        return {"SLIPWAY_OUTPUT": str(own)}

    def left(self, request: Request, whole: Path) -> Path | None:
        """Return the folder with which a run goes on; None for an empty one."""
        if self.lost is None:
            self.lost = self.lost_before()
        number, command = self.lost
        if command == request.command:
            self.lost = 0, ""
        elif not request.resume:
            return None
        else:
            number = max((int(path.name[len("run-") :]) for path in whole.glob("run-*")), default=0)
        folder = whole / f"run-{number}"
        return folder if folder.is_dir() else None

    def lost_before(self) -> tuple[int, str]:
        """Return the run that an earlier start of the job lost, and its command; 0 for none."""
        before = self.number - 1
        names = self.exchange.names("runs") if before else ()
        ends = [name for name in names if name.startswith(ended_name(before, ""))]
        packed = self.exchange.read(request_name(before)) if ends else None
        if packed is None or not any(Part.read(self.exchange.read(name) or b"{}").lost == LOST for name in ends):
            return 0, ""
        return before, Request.read(packed)[0].command

    def ending(self, stops: int) -> str:
        """Return why the session does not let its run go on; empty while it does."""
        if time.time() >= self.until:
            return f"the session ends {after(self.longest)}, its longest time"
        if stops and (packed := self.exchange.read(request_name(self.number + 1))):
            return f"the session ends {Request.read(packed)[0].closed}"
        return ""

    def follow(self, process: Any, readers: list[threading.Thread], output: Output) -> None:
        """Send what a command writes, and end it where that is asked for, until it has ended."""
        codes: list[int] = []
        over = threading.Event()

        def wait() -> None:
            codes.append(process.wait())
            over.set()

        threading.Thread(target=wait, daemon=True).start()
        began = sent = looked = time.monotonic()
        place, stops, ending, by = 1, 0, "", math.inf
        while not over.wait(TICK_S):
            now = time.monotonic()
            pace = next(pace for age, pace in PACES if now - began >= age)
            if now - sent >= pace and (held := output.taken()):
                self.send(Part(self.start, held), place)
                place, sent = place + 1, time.monotonic()
            if now >= by:
                self.signal(signal.SIGKILL)
            elif now - looked >= LOOK_S:
                if stops < 2 and self.exchange.read(stop_name(self.number, stops + 1)) is not None:
                    stops += 1
                    self.signal(signal.SIGINT if stops == 1 else signal.SIGKILL)
                if not ending and (ending := self.ending(stops)):
                    by = now + STOPPED_S
                    if not stops:
                        self.signal(signal.SIGTERM)
                looked = time.monotonic()
        code = codes[0] if codes[0] >= 0 else 128 - codes[0]
        self.end_group()
        for reader in readers:
            reader.join(1.0)
        lost = LOST if self.noticed else "" if stops else ending
        self.send_metrics()
        self.end(Part(self.start, output.taken(), code, lost), place)
        if code:
            self.stop_others()

    def send_metrics(self) -> None:
        """Send the metrics of the run, whose other results are kept some time after its end."""
        whole = self.environ.get("SLIPWAY_OUTPUT", "")
        file = Path(whole, f"run-{self.number}", METRICS)
        with contextlib.suppress(OSError):
            if whole and file.stat().st_size <= MOST_METRICS:
                self.exchange.take(metrics_name(self.number, self.name), file.read_bytes())

    def end_group(self) -> None:
        """End what a command left behind: it would hold the machine's memory."""
        until = time.monotonic() + LAST_WORDS_S
        self.signal(signal.SIGTERM)
        while not gone(self.group, {}) and time.monotonic() < until:
            time.sleep(0.05)
        self.signal(signal.SIGKILL)
        self.group = 0


def began(exchange: Exchange, name: str) -> tuple[str, float]:
    """Return what tells this start of a replica from all others, and the time of its first one."""
    first, own = time.time(), os.urandom(8).hex()
    number = 1
    while not exchange.take(f"starts/{name}.{number:06}", f"{own} {first}".encode()):
        if number == 1:
            first = float((exchange.read(f"starts/{name}.{number:06}") or b"0").split()[-1])
        number += 1
    return f"{number:06}.{own}", first


def serve(session: Session, idle: float) -> int:
    """Run what is sent until the session ends. Raises LateError."""
    session.resume()
    free = time.monotonic()
    while not session.noticed:
        request = session.request()
        if request is None:
            over = time.time() >= session.until
            if session.name == CHIEF and (over or time.monotonic() - free >= idle):
                session.close(f"{after(session.longest)}, its longest time" if over else f"{after(idle)} without a run")
            else:
                time.sleep(LOOK_S)
            continue
        if request.closed:
            say(f"the session ends {request.closed}")
            session.files.folder.with_name(REASON).write_text(f"it ended {request.closed}", encoding="utf-8")
            return 0
        session.run(request)
        session.number += 1
        free = time.monotonic()
    return TERMINATED


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    parser = argparse.ArgumentParser(prog="slipway_session", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--at", required=True, help="gs:// address of its objects")
    parser.add_argument("--idle", type=float, required=True, help="the seconds without a run until it ends")
    parser.add_argument("--max", type=float, required=True, help="the seconds from its first start until it ends")
    parser.add_argument("--preload", default="", help="modules that a warm Python has imported, with commas between")
    asked = parser.parse_args(argv)
    exchange, folder = Exchange(asked.at, Storage(environ)), Path.cwd()
    warm = Warm([module for module in asked.preload.split(",") if module])
    try:
        start, first = began(exchange, replica(environ))
        files = Files(folder, folder.with_name("sent"))
        session = Session(exchange, start, environ, files, warm, until=first + asked.max, longest=asked.max)
        adopt()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, session.notice)
        try:
            return serve(session, asked.idle)
        finally:
            session.signal(signal.SIGKILL)
    except LateError:
        say("another start of this session has taken its place")
        return TERMINATED
    except (StorageError, OSError, ValueError) as error:
        say(f"the session ends, as its owner can't be reached: {asked.at}: {error}")
        return CANNOT_TELL
    finally:
        warm.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
