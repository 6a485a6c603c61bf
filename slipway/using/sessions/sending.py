"""A command sent to a session, with the files that changed since the last one."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from slipway.authoring.packages.code_folder import CodeFolder, code_folder
from slipway.authoring.packages.command_check import hidden, require_joined
from slipway.authoring.packages.command_script import script_of
from slipway.authoring.packages.folder_check import about, require_named
from slipway.authoring.packages.folder_packages import FILES, REQUIREMENTS, packages_of
from slipway.authoring.packages.own_modules import mistyped
from slipway.authoring.packages.slipway_exchange import Request, request_name
from slipway.authoring.packages.source_package import require_no_key
from slipway.authoring.packages.working_tree import IGNORES, WorkingTree
from slipway.base.errors import Interrupted, ResourceError
from slipway.base.formatting import counted, short, size, span
from slipway.using.context import Context
from slipway.using.sessions.session import LastRun, Session, ended, last_run, read_request
from slipway.using.submission.own_settings import require_no_secret

ZIP = "application/zip"


@dataclass(frozen=True)
class SentRun:
    number: int
    request: Request
    #: Files that the run before did not have so, removed ones too.
    changed: int
    #: Of what travelled.
    bytes: int
    #: The file with the folder's requirements that is another now; empty for none.
    requires_others: str


def begin_run(
    context: Context,
    find: Callable[[], Session],
    command: str,
    code: str,
    note: Callable[[str], None],
    *,
    resume: bool = False,
) -> tuple[Session, SentRun]:
    """Send a command to the session that is found, with the files of `code` as they are now, which are read meanwhile;
    `note` is told what travels. `resume`: its $SLIPWAY_OUTPUT is what the run before has left, not empty.

    Raises the errors of `code_folder`, `read` and `send`, and ConfigError for a folder that lacks what the command
    starts, and for a key in it or in the command.
    """
    require_no_secret({"the command": command}, to="slipway session start ")
    storage = context.connection.storage
    with code_folder(code, storage, note) as source, ThreadPoolExecutor(1) as threads:
        reading = threads.submit(source.tree, note)
        session = find()
        last = last_run(storage, session)
        tree = reading.result()
        require_named(tree, source.place, command)
        require_joined(command, sum(pool.replicas for pool in session.job.worker_pools))
        for line in () if last.number else first_lines(tree, source, command):
            note(line)
    require_no_key(tree.files, f"the folder {source.name}", f"leave the file out, by a line in {IGNORES}")
    run = send(context, session, last, command, tree, resume=resume)
    changed = f"{counted(run.changed, 'file')} changed, {size(run.bytes)}" if run.changed else "no file changed"
    note(f"run {run.number}  {changed}")
    if run.requires_others:
        installs = "have it installed by a run of pip install -r requirements.txt"
        fix = installs if run.requires_others == REQUIREMENTS else "slipway session stop, and start one with it"
        note(f"{run.requires_others} is another now: {fix}")
    return session, run


def first_lines(tree: WorkingTree, source: CodeFolder, command: str) -> Iterator[str]:
    """Yield what is told of a folder with a session's first run."""
    yield from about(tree, source.place, command)
    yield from hidden(tree.files, command)
    yield from mistyped(tree.files, command)
    script = script_of(command)
    packages = packages_of(tree.files, source.name, script)
    if script and packages.file == script and packages.lines:
        yield f"! what {script} lists is not installed by a session: have it installed by a run of pip install"


def send(
    context: Context, session: Session, last: LastRun, command: str, tree: WorkingTree, *, resume: bool
) -> SentRun:
    """Send a command, once. `last`: how far the session is. Raises ResourceError where the session has ended, or runs
    something, Interrupted where it may have been sent, and CloudError."""
    if last.goes_on or last.closed:
        raise _refused(context, session, last)
    before = last.request.files if last.request else {}
    files = {name: hashlib.sha256(content).hexdigest() for name, content in tree.files.items()}
    known = {*before.values()}
    contents = {digest: tree.files[name] for name, digest in files.items() if digest not in known}
    request = Request(
        id=secrets.token_hex(8),
        by=f"{context.agent} for {context.user}" if context.agent else context.user,
        command=command,
        files=files,
        executable=tuple(sorted(tree.executable)),
        commit=tree.revision.commit,
        dirty=bool(tree.revision.dirty),
        resume=resume,
    )
    packed = request.packed(contents)
    listing = [name for name in ([REQUIREMENTS] if REQUIREMENTS in files else FILES) if name in files]
    others = [name for name in listing if last.request and before.get(name) != files[name]]
    number, storage = last.number + 1, context.connection.storage
    try:
        created = storage.create(session.object(request_name(number)), packed, ZIP, again=True)
    except KeyboardInterrupt:
        fix = f"slipway session list; where it runs: slipway jobs logs {session.job.typed} --follow"
        raise Interrupted(f"interrupted; run {number} may have been sent", fix=fix) from None
    if not created:
        there = read_request(storage, session, number)
        if there is None or there.id != request.id:
            raise _refused(context, session, LastRun(number, there, None, None))
    return SentRun(number, request, _changed(before, files), len(packed), next(iter(others), ""))


def close(context: Context, session: Session, last: LastRun) -> bool:
    """End a session in place of its next run; False where a request was sooner. Raises CloudError."""
    closing = Request(secrets.token_hex(8), context.user, closed=f"as {context.user or 'its owner'} stopped it")
    place = session.object(request_name(last.number + 1))
    return context.connection.storage.create(place, closing.packed({}), ZIP, again=True)


def _changed(before: Mapping[str, str], now: Mapping[str, str]) -> int:
    return sum(before.get(name) != now.get(name) for name in {*before, *now})


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
