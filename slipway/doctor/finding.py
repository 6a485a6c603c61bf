"""What a doctor may find: each kind with its grade and what it means, and one finding in words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from slipway.codec import At, MaybeText


class Grade(StrEnum):
    """BROKEN: it does not work until somebody mends it. WARNING: it costs money or machines, or soon breaks. NOTE: for
    knowing."""

    BROKEN = "broken"
    WARNING = "warning"
    NOTE = "note"

    @property
    def sign(self) -> str:
        return _SIGNS[self]


_SIGNS = {Grade.BROKEN: "✗", Grade.WARNING: "!", Grade.NOTE: "•"}
WORST_FIRST = tuple(Grade)


@dataclass(frozen=True)
class Finding:
    """One thing that was found. `kind` is one of `KINDS`, `subject` what tells it from others of the kind.

    `mend` is a command that can be pasted as it stands, or says in words what to change or to find out; `means` says
    what that does, where it needs to be said.
    """

    kind: Annotated[str, At("id")]
    grade: Grade
    subject: str
    sentence: str
    mend: MaybeText = ""
    means: MaybeText = ""


@dataclass(frozen=True)
class Kind:
    """A row of the table: `means` continues "this is found when …"."""

    word: str
    grade: Grade
    means: str

    def of(
        self, subject: str, sentence: str, mend: str = "", means: str = "", *, grade: Grade | None = None
    ) -> Finding:
        """`grade`: where it is not the usual one."""
        return Finding(self.word, grade or self.grade, subject, sentence, mend, means)


_BROKEN, _WARNING, _NOTE = Grade.BROKEN, Grade.WARNING, Grade.NOTE
_ALL = (
    Kind("cluster-failed", _BROKEN, "a cluster of the stack is in ERROR and none runs in its place"),
    Kind("name-blocked", _WARNING, "a spent cluster in ERROR holds its name, while another runs in its place"),
    Kind("name-taken", _BROKEN, "somebody else's cluster has an id of the stack"),
    Kind("cluster-gone", _BROKEN, "the catalog names a cluster that the service does not have"),
    Kind("cluster-slow", _WARNING, "a cluster has been in the making for more than two hours"),
    Kind(
        "cluster-in-no-state", _WARNING, "a cluster of the stack that its state lacks, so that the engine never ends it"
    ),
    Kind(
        "cluster-in-no-catalog", _WARNING, "a cluster of the stack that its catalog lacks, where the state was not read"
    ),
    Kind("cluster-in-no-stack", _WARNING, "a cluster that no stack made, or one that is not known here"),
    Kind("cluster-retires-long", _WARNING, "an earlier generation is there after `retireWithin`, or after a day"),
    Kind("cluster-old", _WARNING, "a current cluster is older than the 30 days that the cloud advises"),
    Kind("pool-idle", _WARNING, "a pool without a job for more than a day"),
    Kind("job-beside-pool", _WARNING, "a job pays for machines of its own while a pool has as many of them free"),
    Kind("job-idle", _WARNING, "a job has used next to nothing of its machines for 15 minutes"),
    Kind("quota-nearly-used", _WARNING, "nine tenths of a quota that pools draw are in use"),
    Kind("catalog-missing", _BROKEN, "nothing is published, so nobody can submit"),
    Kind("catalog-damaged", _BROKEN, "what is published can't be read by this version"),
    Kind("catalog-older", _WARNING, "commits since the published one change what is deployed"),
    Kind("catalog-dirty", _NOTE, "what is published was deployed with changes that no commit has"),
    Kind("deployment-unfinished", _WARNING, "state and catalog differ: the last deployment ended before it published"),
    Kind("state-missing", _BROKEN, "a catalog is published, and the backend has no such stack"),
    Kind(
        "state-damaged", _BROKEN, "a killed run, or a full disk, left files in a backend that make every command fail"
    ),
    Kind("operation-pending", _WARNING, "a killed run left something that the engine began to make or delete"),
    Kind("lock-stale", _BROKEN, "a lock whose holder is gone, so that every deployment is refused"),
    Kind("lock-old", _WARNING, "a lock older than any deployment takes, whose holder can't be seen from here"),
    Kind("submission-abandoned", _WARNING, "a submission was interrupted, and nobody waits for it any more"),
    Kind("package-left", _NOTE, "packages that no template and no unfinished job uses, older than 90 days"),
    Kind("resource-gone", _BROKEN, "a bucket or an account of the stack that the service does not have any more"),
    Kind("exposed", _BROKEN, "everybody may use a bucket or an account of the stack, or has a role on its project"),
    Kind("unread", _BROKEN, "clusters, jobs, catalog or state could not be read, so nobody can say that all is well"),
    Kind("unread-part", _WARNING, "something else could not be read"),
    Kind("api-off", _BROKEN, "an API that Slipway needs is switched off in the project"),
    Kind("role-missing", _NOTE, "a role that some commands need, and whoever asks does not have"),
)
KINDS: Mapping[str, Kind] = {kind.word: kind for kind in _ALL}


def shape(parts: Iterable[tuple[str, ...]]) -> str:
    """Twelve hexadecimal digits that change only when something comes, goes or becomes something else: not with time,
    order or an amount."""
    text = "\n".join("\t".join(part) for part in sorted(set(parts)))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def shape_of(findings: Iterable[Finding]) -> str:
    """That of what is broken or warns."""
    return shape((one.kind, one.subject) for one in findings if one.grade is not Grade.NOTE)
