"""Makes room for another job, where somebody asks for it and a job behind goes on from the checkpoints."""

from __future__ import annotations

import json
import time
from threading import Event
from typing import Callable, Mapping  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_command import Command
from slipway.authoring.packages.slipway_exchange import Exchange
from slipway.authoring.packages.slipway_http import StorageError
from slipway.authoring.packages.slipway_results import CHIEF, say
from slipway.authoring.packages.slipway_round import CHECKPOINT, KEPT, MADE, Asked
from slipway.authoring.packages.slipway_storage import RefusedError, Storage, split

YIELD = "SLIPWAY_YIELD"
LOOK_S = 5.0
HELPERS_S = 30.0  # A helper that has ended before marks nothing.
LEFT_S = 600.0


class Room:
    """The room that a replica's job makes when it is asked to, or that it goes on in, `after` another job.

    `output` is the job's. `why`: for whom it has made room; empty while it has not.
    """

    def __init__(self, claim: str, output: str, replica: str, replicas: int, storage: Storage, after: str = "") -> None:
        folder, _, self.own = claim.rpartition("/")
        self.exchange, self.storage = Exchange(folder, storage), storage
        self.output, self.replica, self.replicas, self.after = output, replica, replicas, after
        self.number, self.why = 1, ""
        self.asked: Asked | None = None
        self.since = 0.0
        #: The checkpoints when it was asked, and at the last look.
        self.saved = self.seen = ""

    @classmethod
    def asked_for(cls, claim: str, replica: str, replicas: int, environ: Mapping[str, str]) -> Room | None:
        """Return the room of a replica's job; None where its template has no checkpoints to go on from."""
        record = environ.get(YIELD)
        if not record:
            return None
        output = environ.get("AIP_MODEL_DIR", "").rstrip("/").rpartition("/")[0]
        return cls(claim, output, replica, replicas, Storage(environ), json.loads(record).get("after", ""))

    def name(self, what: str) -> str:
        return f"{self.own}/yield/{self.number}.{what}"

    def turn(self, sleep: Callable[[float], None] = time.sleep) -> str:
        """Wait until the job before has left; return its id where it goes on itself. Raises StorageError, and
        RefusedError where that one has not begun."""
        if not self.after:
            return ""
        if self.exchange.take(f"{self.after}.end", KEPT):
            owner = self.exchange.read(self.after.partition("/")[0])
            if owner is None:
                raise RefusedError(
                    "the job before this one has not begun, so this one does not go on",
                    f"it waits still, and goes on itself, or it was cancelled where no launcher saw it: {self.after}",
                    "docs/full-pool.md#when-the-job-behind-was-cancelled",
                )
            return owner.decode().strip()
        until = time.monotonic() + LEFT_S
        while self.exchange.read(f"{self.after}.left.{CHIEF}") is None and time.monotonic() < until:
            sleep(1.0)
        say("goes on where the job before it made room")
        return ""

    def made(self) -> bool:
        """Tell whether this job has made room: at an earlier start, or now, before its code, where it was asked while
        it waited for a machine. Raises StorageError."""
        names = [name.rpartition("/")[2] for name in self.exchange.names(f"{self.own}/yield")]
        self.number = max((int(name.partition(".")[0]) for name in names), default=1)
        end = self.exchange.read(self.name("end")) if names else None
        if end == MADE:
            self.why = "made room before its machine was lost"
        elif end is None and self.replica == CHIEF and (content := self.exchange.read(self.name("asked"))):
            asked = Asked.read(content)
            wanted = MADE if self.needed(asked) else KEPT
            end = wanted if self.exchange.take(self.name("end"), wanted) else KEPT
            self.why = self.words(asked) if end == MADE else ""
        self.number += end == KEPT
        return end == MADE

    def needed(self, asked: Asked) -> bool:
        """Tell whether a job still waits for the room. Raises StorageError."""
        taken = {claim for claim in asked.needless if self.exchange.read(claim) is not None}
        if not taken or asked.behind in taken:
            return not taken
        also = self.name("also.")
        names = self.exchange.names(f"{self.own}/yield")
        return any(self.exchange.read(name[len(also) :]) is None for name in names if name.startswith(also))

    def words(self, asked: Asked) -> str:
        return f"made room for {asked.whom}, as {asked.by} asked"

    def watch(self, command: Command, over: Event) -> None:
        """Look until the command has ended, or is ended to make room."""
        look = self.decide if self.replica == CHIEF else self.follow
        while not over.wait(LOOK_S):
            try:
                if look(command):
                    return
            except StorageError as error:
                if not over.is_set():
                    say(f"not known yet whether to make room: {error}")

    def decide(self, command: Command) -> bool:
        """Make room after a new checkpoint, or once the time is over, unless it is not needed any more; tell whether to
        look no more."""
        if self.asked is None:
            content = self.exchange.read(self.name("asked"))
            if content is None:
                return False
            self.asked, self.since = Asked.read(content), time.monotonic()
            self.saved = self.seen = self.checkpoints()
            end = f"ends after its next checkpoint, at the latest in {self.asked.within:.0f} s"
            say(f"{self.asked.by} asks it to make room for {self.asked.whom}: {end}")
        asked = self.asked
        if not self.needed(asked):
            self.exchange.take(self.name("end"), KEPT)
            return self.go_on()
        whole = self.seen != self.saved  # The files of one may come one after another.
        self.seen = self.checkpoints()
        if not whole and time.monotonic() - self.since < asked.within:
            return False
        if command.ending():
            return True
        if not self.exchange.take(self.name("end"), MADE):
            return self.go_on()
        self.end(command, self.words(asked))
        return True

    def go_on(self) -> bool:
        say("no room is needed any more: goes on")
        self.asked = None
        self.number += 1
        return False

    def follow(self, command: Command) -> bool:
        """End a helper's command with the chief's; tell whether to look no more."""
        end = self.exchange.read(self.name("end"))
        self.number += end == KEPT
        if end == MADE:
            self.end(command, "made room")
        return end == MADE

    def end(self, command: Command, why: str) -> None:
        self.why = why
        say(f"{why}: ends the command")
        command.end()

    def left(self) -> bool:
        """Tell whether it has made room, and mark that nothing of it runs any more; a chief waits for its helpers."""
        try:
            unsure = self.asked or self.replica != CHIEF  # An answer was lost, or it failed as the chief's ended.
            if not self.why and unsure and self.exchange.read(self.name("end")) == MADE:
                self.why = "made room"
            if not self.why:
                return False
            until = time.monotonic() + HELPERS_S
            while self.replica == CHIEF and self.helpers() < self.replicas - 1 and time.monotonic() < until:
                time.sleep(0.5)
            self.exchange.take(self.name(f"left.{self.replica}"), self.replica.encode())
        except StorageError as error:
            say(f"the job behind may wait for {LEFT_S:.0f} s, as it is not known that this one has ended: {error}")
        return bool(self.why)

    def helpers(self) -> int:
        left = self.name("left.")
        return sum(name.startswith(left) for name in self.exchange.names(f"{self.own}/yield"))

    def checkpoints(self) -> str:
        """The job's checkpoints, in its output, as one text that tells them from later ones."""
        if not self.output:
            return ""
        bucket, folder = split(self.output)
        listed = self.storage.listed(bucket, folder)
        saved = (entry for entry in listed if CHECKPOINT.search(entry["name"], len(folder)))
        return " ".join(f"{entry['name']}#{entry['generation']}" for entry in saved)
