"""A job's outputs as files: each is complete or absent, and complete files are not fetched again.

Partial downloads are kept in a folder of their own beside the files (`slipway.using.jobs.outputs.PARTS`), under a name
that tells the object's contents, so that another download continues where this one stopped.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from slipway.base.errors import ConfigError, ResourceError, SlipwayError
from slipway.base.formatting import counted, size
from slipway.google.failures import NoAnswer, NotFound
from slipway.google.jobs import VertexJob
from slipway.google.session import HttpPolicy
from slipway.google.storage import Location, Storage
from slipway.using.context import Context
from slipway.using.jobs.outputs import PARTS, LeftOut, OutputFile, alone_in, ignore, listed, output_files, present_files

_THREADS = 8
_TICK = 0.2
_FRUITLESS = 3
"""The number of answers in a row that may break off before any byte came."""
_PATIENCE = HttpPolicy(read=20.0)

Tell = Callable[[int, int, int], None]
"""A callback for the number of complete files, the bytes that have come, and the bytes in all."""


@dataclass(frozen=True)
class Download:
    """The result of a download."""

    source: str
    folder: Path
    fetched: tuple[OutputFile, ...]
    present: tuple[OutputFile, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def files(self) -> tuple[OutputFile, ...]:
        return self.present + self.fetched

    def require_all(self) -> None:
        if self.left_out:
            raise ResourceError(
                f"{counted(len(self.left_out), 'object')} left out of {self.folder}",
                why=listed(f"{skipped.name}: {skipped.why}" for skipped in self.left_out),
                fix=f"fetch each under a name of your own: gcloud storage cp '{self.source}/…' FILE",
            )


def download(
    context: Context, job: VertexJob, folder: Path, *, overwrite: bool = False, tell: Tell | None = None
) -> Download:
    """Fetch all outputs that a job has written so far. Equal files that are already there are kept.

    Raises ResourceError for a job without an output directory; ConfigError, before anything is written, for a file that
    differs (unless `overwrite`) or can't be written; SlipwayError for too little room; and CloudError.
    """
    if not job.output:
        raise ResourceError(
            f"job {job.called} has no output directory",
            why="its request names none",
            fix=f"slipway jobs show {job.typed}",
        )
    connection = context.connection.with_policy(_PATIENCE)
    connection.session.widen(_THREADS)
    at = Location.parse(job.output.rstrip("/"))
    under = f"{at.name}/" if at.name else ""
    files, left_out = output_files(connection.storage.objects(Location(at.bucket, under)), under)
    present, missing = list[OutputFile](), list[OutputFile]()
    if files:
        with alone_in(folder):
            present = present_files(folder, files, overwrite)
            there = set(present)
            missing = [output for output in files if output not in there]
            ignore(folder, files)
            _Fetching(connection.storage, folder, missing, overwrite).run(tell or (lambda *_: None))
    return Download(str(at), folder, tuple(missing), tuple(present), tuple(left_out))


class _Fetching:
    """A download of several files at once, until all are there, one fails or the caller is interrupted."""

    def __init__(self, storage: Storage, folder: Path, files: Sequence[OutputFile], overwrite: bool) -> None:
        self._storage, self._folder, self._files, self._overwrite = storage, folder, files, overwrite
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._waiting = iter(files)
        self._failures: list[Exception] = []
        self._complete = self._bytes = 0

    def run(self, tell: Tell) -> None:
        parts = self._folder / PARTS
        total = sum(output.stored.size for output in self._files)
        parts.mkdir(exist_ok=True)
        arrived = sum(part.stat().st_size for output in self._files if (part := parts / _part(output)).exists())
        if (free := shutil.disk_usage(self._folder).free) < total - arrived:
            raise SlipwayError(
                f"{self._folder} has too little room",
                why=f"{size(total - arrived)} are to be fetched, and {size(free)} are free",
                fix="make room, or name a folder on another disk",
            )
        # Daemons: no thread is waited for once another has failed or somebody has pressed Ctrl-C.
        threads = [threading.Thread(target=self._work, args=(parts,), daemon=True) for _ in range(_THREADS)]
        try:
            tell(0, 0, total)
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive() and not self._failures:
                    thread.join(_TICK)
                    tell(self._complete, self._bytes, total)
        finally:
            self._stop.set()
        if self._failures:
            raise self._failures[0]
        shutil.rmtree(parts)

    def _work(self, parts: Path) -> None:
        try:
            while not self._stop.is_set():
                with self._lock:
                    output = next(self._waiting, None)
                if output is None:
                    return
                self._fetch(output, parts / _part(output))
        except OSError as problem:
            self._failures.append(problem if problem.filename else _not_written(self._folder, problem))
        except Exception as problem:
            self._failures.append(problem)

    def _fetch(self, output: OutputFile, part: Path) -> None:
        if part.is_symlink():
            part.unlink()
        with part.open("ab") as file:
            if file.tell() > output.stored.size:
                file.seek(0)
                file.truncate()
            self._count(file.tell())
            fruitless = 0
            while file.tell() < output.stored.size and not self._stop.is_set():
                before, lost = file.tell(), None
                try:
                    for chunk in self._storage.chunks(output.stored, before):
                        if self._stop.is_set():
                            return
                        file.write(chunk)
                        self._count(len(chunk))
                except NoAnswer as problem:
                    lost = problem
                except NotFound as problem:
                    raise ResourceError(
                        f"{output.stored.at} was replaced or deleted while it was fetched",
                        why=problem.message,
                        fix="give the same command again",
                    ) from problem
                fruitless = 0 if file.tell() > before else fruitless + 1
                if fruitless == _FRUITLESS:
                    if lost:
                        raise lost
                    break
            file.flush()
            os.fsync(file.fileno())
        if not self._stop.is_set():
            self._finish(output, part)

    def _finish(self, output: OutputFile, part: Path) -> None:
        if part.stat().st_size != output.stored.size or (output.stored.md5 and not output.is_at(part)):
            part.unlink()
            raise ResourceError(
                f"{output.stored.at} arrived damaged",
                why="its size or its hash is not that of the object",
                fix="give the same command again",
            )
        path = self._folder / output.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if output.stored.updated:
            updated = output.stored.updated.timestamp()
            os.utime(part, (updated, updated))
        if os.path.lexists(path) and not self._overwrite:
            raise ConfigError(
                f"{path} has come up meanwhile",
                why="somebody else made it, or another object has the same name to this disk",
                fix="name another folder",
            )
        part.replace(path)
        with self._lock:
            self._complete += 1

    def _count(self, more: int) -> None:
        with self._lock:
            self._bytes += more


def _not_written(folder: Path, problem: OSError) -> SlipwayError:
    """Return the error of a write that names no file, as that on a full disk."""
    return SlipwayError(
        f"can't write into {folder}",
        why=(problem.strerror or str(problem)).lower(),
        fix="free space there, or name a folder on another disk; the same command fetches what is missing",
    )


def _part(output: OutputFile) -> str:
    return hashlib.sha256(f"{output.stored.at}#{output.stored.generation}".encode()).hexdigest()[:32]
