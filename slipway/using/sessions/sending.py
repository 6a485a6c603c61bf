"""A command sent to a session, with the files that changed since the last one."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from slipway.authoring.packages.slipway_exchange import Request, request_name
from slipway.authoring.packages.working_tree import WorkingTree
from slipway.base.errors import Fix, ResourceError
from slipway.base.formatting import short, span
from slipway.google.jobs import VertexJob
from slipway.using.context import Context
from slipway.using.sessions.session import LastRun, Session, read_request

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


def send(context: Context, session: Session, last: LastRun, command: str, tree: WorkingTree) -> SentRun:
    """Send a command, once. `last`: how far the session is. Raises ResourceError where the session has ended, or runs
    something, and CloudError."""
    if last.goes_on or (last.request and last.request.closed):
        raise _refused(context, session, last)
    before = last.request.files if last.request else {}
    contents = {hashlib.sha256(content).hexdigest(): content for content in tree.files.values()}
    files = dict(zip(tree.files, map(_digest, tree.files.values()), strict=True))
    request = Request(
        id=secrets.token_hex(8),
        by=context.user,
        command=command,
        files=files,
        executable=tuple(sorted(tree.executable)),
        commit=tree.revision.commit,
        dirty=bool(tree.revision.dirty),
    )
    known = {*before.values()}
    packed = request.packed({digest: content for digest, content in contents.items() if digest not in known})
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


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _changed(before: Mapping[str, str], now: Mapping[str, str]) -> int:
    return sum(before.get(name) != now.get(name) for name in {*before, *now})


def _required(files: Mapping[str, str]) -> str:
    return files.get("requirements.txt", "")


def _refused(context: Context, session: Session, last: LastRun) -> ResourceError:
    request = last.request
    if request and request.closed:
        return ended(session.job, f"it ended {request.closed}")
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
