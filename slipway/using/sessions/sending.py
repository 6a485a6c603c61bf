"""A command sent to a session, with the files that changed since the last one."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from slipway.authoring.packages.folder_check import about, require_named
from slipway.authoring.packages.slipway_exchange import Request, request_name
from slipway.authoring.packages.source_package import require_no_key
from slipway.authoring.packages.working_tree import IGNORES, WorkingTree, read
from slipway.base.errors import Fix, ResourceError
from slipway.base.formatting import counted, short, size, span
from slipway.google.jobs import VertexJob
from slipway.using.context import Context
from slipway.using.sessions.session import LastRun, Session, last_run, read_request

ZIP = "application/zip"


@dataclass(frozen=True)
class SentRun:
    number: int
    request: Request
    #: Files that the run before did not have so, removed ones too.
    changed: int
    #: Of what travelled.
    bytes: int
    #: The session's requirements.txt is another than the folder's.
    requires_others: bool


def begin_run(
    context: Context, find: Callable[[], Session], command: str, folder: Path, note: Callable[[str], None]
) -> tuple[Session, SentRun]:
    """Send a command to the session that is found, with the folder's files as they are now, which are read meanwhile;
    `note` is told what travels. Raises the errors of `read` and `send`, and ConfigError for a folder that lacks what
    the command starts, or has a key."""
    with ThreadPoolExecutor(1) as threads:
        reading = threads.submit(read, folder)
        session = find()
        last = last_run(context.connection.storage, session)
        tree = reading.result()
    place = folder.resolve()
    require_named(tree, place, command)
    require_no_key(tree.files, f"the folder {place.name}", f"leave the file out, by a line in {IGNORES}")
    for line in () if last.number else about(tree, place, command):
        note(line)
    run = send(context, session, last, command, tree)
    changed = f"{counted(run.changed, 'file')} changed, {size(run.bytes)}" if run.changed else "no file changed"
    note(f"run {run.number}  {changed}")
    if run.requires_others:
        note("requirements.txt is another now: have it installed by a run of pip install -r requirements.txt")
    return session, run


def send(context: Context, session: Session, last: LastRun, command: str, tree: WorkingTree) -> SentRun:
    """Send a command, once. `last`: how far the session is. Raises ResourceError where the session has ended, or runs
    something, and CloudError."""
    if last.goes_on or last.closed:
        raise _refused(context, session, last)
    before = last.request.files if last.request else {}
    files = {name: hashlib.sha256(content).hexdigest() for name, content in tree.files.items()}
    known = {*before.values()}
    contents = {digest: tree.files[name] for name, digest in files.items() if digest not in known}
    request = Request(
        id=secrets.token_hex(8),
        by=context.user,
        command=command,
        files=files,
        executable=tuple(sorted(tree.executable)),
        commit=tree.revision.commit,
        dirty=bool(tree.revision.dirty),
    )
    packed = request.packed(contents)
    number, storage = last.number + 1, context.connection.storage
    if not storage.create(session.object(request_name(number)), packed, ZIP, again=True):
        there = read_request(storage, session, number)
        if there is None or there.id != request.id:
            raise _refused(context, session, LastRun(number, there, None, None))
    return SentRun(number, request, _changed(before, files), len(packed), _required(before) != _required(files))


def close(context: Context, session: Session, last: LastRun) -> bool:
    """End a session in place of its next run; False where a request was sooner. Raises CloudError."""
    closing = Request(secrets.token_hex(8), context.user, closed=f"as {context.user or 'its owner'} stopped it")
    place = session.object(request_name(last.number + 1))
    return context.connection.storage.create(place, closing.packed({}), ZIP, again=True)


def _changed(before: Mapping[str, str], now: Mapping[str, str]) -> int:
    return sum(before.get(name) != now.get(name) for name in {*before, *now})


def _required(files: Mapping[str, str]) -> str:
    return files.get("requirements.txt", "")


def _refused(context: Context, session: Session, last: LastRun) -> ResourceError:
    request = last.request
    if last.closed:
        return ended(session.job, f"it ended {last.closed}")
    since = f" for {span((context.now - last.sent).total_seconds())}" if last.sent else ""
    what = f"{request.by or 'somebody'}'s {short(request.command)}" if request else "another command"
    return ResourceError(
        f"{session.name} runs {what}",
        why=f"run {last.number} goes on{since}, and a session runs one command at a time",
        fix=f"wait for it (slipway jobs logs {session.job.typed} --follow), or slipway session stop",
    )


def ended(job: VertexJob, why: str, fix: Fix = "slipway session start") -> ResourceError:
    """Return the error for a session that is no more."""
    return ResourceError(f"the session {job.chosen_name or job.typed} has ended", why=why, fix=fix)
