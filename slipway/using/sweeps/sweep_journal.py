"""A sweep's journal: one file to which each step is appended, so that a kill at any moment loses nothing that the sweep
needs.

The first line identifies the sweep; it is on the disk before anything is sent, and no sooner: a refused sweep binds no
name. A line is handed to the system before its request is sent, which survives a kill; a power cut may lose the last
second of lines. That is enough: request ids follow from the sweep's id, and a resumed sweep looks at the service first.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from slipway.base import codec
from slipway.base.codec import from_json
from slipway.base.errors import Arguments, ConfigError, SlipwayError
from slipway.base.files import make_folder
from slipway.model.catalog.template import Template
from slipway.using.context import Context
from slipway.using.submission.delivery import SendState
from slipway.using.submission.journal import lock, move_aside, state_folder, unreadable, unusable
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.sweeps.points import Point
from slipway.using.sweeps.runs import Run
from slipway.using.sweeps.sweep_code import SweepCode


class SweepDigests:
    def __init__(self, points: Sequence[Point]) -> None:
        self._points = json.dumps([point.values for point in points], sort_keys=True)

    def of(self, asked: SubmissionRequest, *, by_code: bool = False) -> str:
        """Return the hash of the canonical JSON of the request with its points, which are written once: they may be
        many. `by_code`: a folder's code is a part of it, as in all sweeps of earlier versions. That is told by itself:
        what is packed beside it changes with the version."""
        code = asked.overrides.code or asked.overrides.package
        what: Mapping[str, Any] = {
            "template": asked.template,
            "params": dict(asked.params),
            "kind": asked.kind,
            "experiment": asked.overrides.experiment,
            "package": "--code" if asked.overrides.of_folder and not by_code else code,
            "capacityType": asked.capacity_type,
            **({"pool": asked.pool} if asked.pool else {}),
            **({"settings": str(settings)} if (settings := asked.overrides.settings) else {}),
        }
        texts = {"points": self._points, **{key: json.dumps(value, sort_keys=True) for key, value in what.items()}}
        text = ", ".join(f'"{key}": {texts[key]}' for key in sorted(texts))
        return hashlib.sha256(f"{{{text}}}".encode()).hexdigest()


def siblings(template: Template, kind: str, asked: SubmissionRequest) -> Iterator[SubmissionRequest]:
    """Yield the same runs, asked for with another capacity type, or with the usual kind named or not."""
    offered = (offer.capacity_type for offer in template.offers if offer.kind == kind)
    for capacity_type in (None, *dict.fromkeys(offered)):
        for kind_given in (None, kind) if kind == template.kinds[0] else (kind,):
            other = replace(asked, capacity_type=capacity_type, kind=kind_given)
            if other != asked:
                yield other


def instead(asked: SubmissionRequest, other: SubmissionRequest) -> tuple[str | Arguments, ...]:
    """Return the arguments to give and to leave out to ask for the other one: parts of a fix."""
    ours, theirs = ({"capacity": submission.capacity_type, "kind": submission.kind} for submission in (asked, other))
    given = {name: value for name, value in theirs.items() if value and value != ours[name]}
    left_out = {name: value for name, value in ours.items() if value and not theirs[name]}
    if not left_out:
        return (given,)
    return (given, ", without ", left_out) if given else ("without ", left_out)


@dataclass(frozen=True)
class SweepHeader:
    """The identity of a sweep."""

    sweep: str
    template: str
    #: Covers template, points and flags.
    digest: str
    count: int
    #: The catalog's at the sweep's beginning, with `-dirty` where the checkout had changes.
    commit: str
    when: str
    #: The catalog's work bucket then, where the runs' claims are.
    bucket: str
    #: Covers the folder's code as well: the digest of earlier versions.
    by_code: str = ""
    code: SweepCode | None = None


def journal_of_sweep(context: Context, sweep: str) -> Path:
    state = state_folder(context.folder, context.environ)
    return state / "sweeps" / context.catalog.project / context.catalog.identity.label / f"{sweep}.jsonl"


def was_begun(file: Path) -> bool:
    with contextlib.suppress(OSError), file.open("rb") as stream:
        return bool(stream.readline() and stream.readline())
    return False


def is_being_sent(file: Path) -> bool | None:
    """Tell whether a process holds the journal and sends; None without a journal, as the sweep was not begun here."""
    try:
        with file.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    return False


@dataclass(frozen=True)
class RecordedSweep:
    """Facts of a journal about a sweep without its points; nothing where there is none, or it can't be read."""

    count: int = 0
    #: The names of the jobs of each run.
    jobs: Mapping[Run, str] = field(default_factory=dict)
    #: The bucket of each run's claim, as far as it was sent.
    buckets: Mapping[Run, str] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> RecordedSweep:
        try:
            with file.open("rb") as stream:
                head = codec.read(SweepHeader, from_json(stream.readline()))
        except (OSError, ValueError, RecursionError):
            return cls()
        journal = SweepJournal(file, lambda _: None)
        journal.read(head)
        return cls(head.count, journal.jobs, journal.buckets)


class SweepJournal:
    """A sweep's journal, as a context. One process at a time holds it; when that dies, the kernel lets go.

    `skip` is told of damage that the sweep does without, as its jobs' claims tell what was sent; None where they have
    none.
    """

    def __init__(self, file: Path, skip: Callable[[str], None] | None = None) -> None:
        self._file, self._skip = file, skip
        self._stream: IO[bytes] | None = None
        self._synced = True
        self._head: SweepHeader | None = None
        self.commit = ""
        #: The code that the sweep began with; None before it began, and where a template's code runs.
        self.code: SweepCode | None = None
        self.jobs: dict[Run, str] = {}
        #: The runs without an answer, with the second of the wall clock they were sent at.
        self.open: dict[Run, float] = {}
        #: The second of the wall clock at which each run was sent first.
        self.sent_at: dict[Run, float] = {}
        #: The bucket of each run's claim, as it was sent first.
        self.buckets: dict[Run, str] = {}
        self._bucket = ""

    def begin(self, head: SweepHeader) -> None:
        """Open the journal. Raises ConfigError when the id was used for another sweep, SlipwayError for the disk."""
        with self._usable():
            make_folder(self._file.parent)
            try:
                stream = self._stream = self._file.open("a+b")
            except (IsADirectoryError, PermissionError) as problem:
                self._damaged(head, problem)
                move_aside(self._file)
                stream = self._stream = self._file.open("a+b")
            try:
                lock(stream, f"sweep {head.sweep}", self._file)
            except SlipwayError:
                self.read(head)  # Waiting does not help where the one that sends has other runs.
                raise
            stream.seek(0)
            text = stream.read()
            whole = text[: text.rfind(b"\n") + 1]
            if whole != text:
                os.truncate(stream.fileno(), len(whole))
            if not self._replay(whole, head):
                move_aside(self._file)
                stream.close()
                self.begin(head)

    def began_with(self, code: SweepCode | None) -> None:
        """Have it recorded where nothing is recorded yet."""
        self.code = code
        if self._head is not None:
            self._head = replace(self._head, code=code)

    def read(self, head: SweepHeader) -> None:
        """Read what is recorded, as `begin` does, and open nothing for writing: for a sweep that is not sent."""
        try:
            text = self._file.read_bytes()
        except FileNotFoundError:
            text = b""
        except OSError as problem:
            self._damaged(head, problem)
            text = b""
        self._replay(text[: text.rfind(b"\n") + 1], head)

    def _damaged(self, head: SweepHeader, problem: Exception, line: int = 0) -> None:
        """Tell of damage that the sweep does without, or raise SlipwayError."""
        place = f", line {line}" if line else ""
        error = unreadable(f"sweep {head.sweep}", f"{self._file}{place}", problem)
        if self._skip is None:
            raise error from problem
        self._skip(f"! {error.what} ({error.why}); its jobs and their claims tell what was sent")

    def _replay(self, whole: bytes, head: SweepHeader) -> bool:
        """Take what is recorded, and tell whether the journal is one. Raises ConfigError for that of other runs, and
        SlipwayError for damage."""
        self.commit, self._bucket = head.commit, head.bucket
        lines = whole.splitlines()
        if not lines:
            self._head = head
            return True
        try:
            first = codec.read(SweepHeader, from_json(lines[0]))
        except (ValueError, RecursionError) as problem:
            self._damaged(head, problem, 1)
            return False
        if first.digest not in (head.digest, head.by_code):
            raise ConfigError(
                f"sweep {head.sweep} was begun with other runs",
                why=f"{first.count} of {first.template}, begun {first.when} ({self._file})",
                fix=("name this one differently: ", {"request_id": "NAME"}),
            )
        self.commit, self._bucket, self.code = first.commit, first.bucket, first.code
        for number, text in enumerate(lines[1:], 2):
            try:
                line = from_json(text)
                run, job, bucket = Run(int(line["i"]), int(line["a"])), line.get("j", ""), line.get("b", self._bucket)
                self._record(run, SendState(line["s"]), float(line["t"]), str(job), str(bucket))
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as problem:
                self._damaged(head, problem, number)
        return True

    def write(self, run: Run, fate: SendState, when: float, job: str = "", bucket: str = "") -> None:
        """Append a step; `when` is in seconds of the wall clock, `bucket` that of the claim of a run that is being
        sent. Raises SlipwayError when the disk does not take it."""
        if self._head is not None:
            head, self._head = self._head, None
            self._append({"schema": 1, **asdict(head)})
            self.sync()
        line: dict[str, Any] = {"i": run.index, "a": run.resend, "s": fate.value, "t": round(when, 1)}
        if job:
            line["j"] = job
        if bucket not in ("", self._bucket):  # The header has the usual bucket.
            line["b"] = bucket
        self._append(line)
        self._record(run, fate, when, job, bucket)

    def sync(self) -> None:
        if self._stream is not None and not self._synced:
            with self._usable():
                os.fsync(self._stream.fileno())
            self._synced = True

    def __enter__(self) -> SweepJournal:
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            try:
                self.sync()
            finally:
                with contextlib.suppress(OSError):  # A full disk has raised its error at the writing.
                    self._stream.close()
                self._stream = None

    def _append(self, line: Mapping[str, Any]) -> None:
        assert self._stream is not None, "begin() comes first"
        with self._usable():
            self._stream.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            self._stream.flush()
        self._synced = False

    def _record(self, run: Run, fate: SendState, when: float, job: str, bucket: str) -> None:
        self.open.pop(run, None)
        if fate is SendState.SENDING:
            self.jobs.pop(run, None)  # The job was deleted before it had started.
            self.open[run] = when
            self.sent_at.setdefault(run, when)
            self.buckets.setdefault(run, bucket)
        elif fate is SendState.ACCEPTED:
            self.jobs[run] = job

    @contextlib.contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise unusable("the sweep", self._file, problem) from problem
