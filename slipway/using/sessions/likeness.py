"""A run of a session as a submission: its command, with the files that it had."""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, replace

from slipway.authoring.packages.slipway_command import FOLDER
from slipway.authoring.packages.slipway_exchange import Request, request_name
from slipway.authoring.packages.working_tree import WorkingTree
from slipway.base.errors import ConfigError, ResourceError
from slipway.google.failures import NotFound
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location, Storage
from slipway.model.labels import Revision
from slipway.using.sessions.session import Session, is_command
from slipway.using.submission.submission_request import SubmissionRequest

_FOLDER = f"{FOLDER.parent.name}/{FOLDER.name}"
_RUN = re.compile(r"(?P<session>[^/]+)/(?P<number>\d{1,6})")


@dataclass(frozen=True)
class RunLikeness:
    """A run to submit the like of."""

    #: That of the session.
    job: VertexJob
    number: int
    command: str
    tree: WorkingTree

    @property
    def typed(self) -> str:
        return f"{self.job.typed}/{self.number}"

    def asked(self, request: SubmissionRequest) -> SubmissionRequest:
        """Return the request for the like of the session's job with the run's command in place of the session's."""
        params = {
            name: self.command if isinstance(value, str) and is_command(value) else value
            for name, value in request.params.items()
        }
        return replace(request, params=params)


def run_like(storage: Storage, text: str, find: Callable[[str], VertexJob]) -> RunLikeness | None:
    """Return the run that `SESSION/NUMBER` names; None for another text. Raises ConfigError for a job that is no
    session, ResourceError where the run, or a part of its files, is not there, and CloudError."""
    named = _RUN.fullmatch(text)
    if not named:
        return None
    job, number = find(named["session"]), int(named["number"])
    session = Session.of(job)
    if session is None:
        raise ConfigError(f"{job.typed} is no session", fix=f"slipway submit --like {job.typed}")
    requests: dict[int, tuple[Request, dict[str, bytes]]] = {}
    for each in range(1, number + 1):
        try:
            requests[each] = Request.read(storage.read(session.object(request_name(each))))
        except NotFound:
            break
    request, _ = requests.get(number, (None, None))
    if request is None or request.closed:
        raise ResourceError(
            f"{session.name} has no run {number}",
            why=f"its last one is {len(requests)}" if requests else "it has none, or they were deleted after a while",
            fix=f"slipway jobs logs {job.typed}, which has the runs of a session with their numbers",
        )
    contents = {digest: content for _, came in requests.values() for digest, content in came.items()}
    if not contents.keys() >= {*request.files.values()}:
        contents |= _packed(storage, job)
    try:
        files = {name: contents[digest] for name, digest in request.files.items()}
    except KeyError as problem:
        raise ResourceError(
            f"the files of run {number} of {session.name} are gone",
            why="they are deleted after a while",
            fix="slipway run -- " + request.command,
        ) from problem
    tree = WorkingTree(files, Revision(request.commit, request.dirty), frozenset(request.executable))
    return RunLikeness(job, number, request.command, tree)


def _packed(storage: Storage, job: VertexJob) -> dict[str, bytes]:
    """Return the files that the session began with, by their digests; none where its package is gone."""
    found: dict[str, bytes] = {}
    for uri in job.packages:
        try:
            package = _members(storage.read(Location.parse(uri)))
        except NotFound:
            continue
        folder = next((content for name, content in package.items() if name.endswith(_FOLDER)), b"")
        found |= {hashlib.sha256(content).hexdigest(): content for content in _members(folder).values()}
    return found


def _members(archive: bytes) -> dict[str, bytes]:
    if not archive:
        return {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        each = ((member.name, opened.extractfile(member)) for member in opened)
        return {name: file.read() for name, file in each if file}
