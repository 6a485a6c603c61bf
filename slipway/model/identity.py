"""The identity of a deployment: its Pulumi project, its stack and its workspace, and the names made of these.

Several Pulumi projects can have a stack of the same name, and deploy into the same Google Cloud project. So all names
and labels of what a deployment creates contain the Pulumi project as well.

The parts are joined by two dashes. A part that has two dashes itself, or characters that a name can't have, or a name
that is too long gets a hash of all parts instead, behind three dashes. So two deployments never have the same name.
Frozen: deployed resources have these names. Golden tests hold them.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass

LONGEST_LABEL = 63
LONGEST_BUCKET = 63
LONGEST_ACCOUNT = 30
_HASH_LENGTH = 8
_BETWEEN, _BEFORE_HASH = "--", "---"
_PLAIN_PART = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_UNFIT = re.compile(r"[^a-z0-9]+")
_REFUSED_IN_BUCKETS = re.compile("g[o0]{2}gle")
"""Cloud Storage rejects a bucket's name with `google`, or similar, in it."""
_PLAIN_WORKSPACE = "workspace"
"""The usual name of a workspace, which no name contains."""


@dataclass(frozen=True)
class Identity:
    """A deployment among all others of a Google Cloud project."""

    #: The Pulumi project. Empty where none is known, as for a stack file by itself: the stack's name stands alone then.
    project: str
    #: The stack, as Pulumi knows it.
    stack: str
    #: The component's name; empty for the stack of a stack file.
    workspace: str = ""

    @property
    def name(self) -> str:
        """`dev`, or `dev-ml` for a workspace: the name that people read where no other deployment is meant."""
        return "-".join(self._parts[bool(self.project) :])

    @property
    def label(self) -> str:
        """The value of the label that tells what belongs to the deployment."""
        return _joined(self._parts, LONGEST_LABEL)

    @property
    def words(self) -> str:
        """`stack dev of Pulumi project vision-infra`, for messages about another deployment."""
        return f"stack {self.called}"

    @property
    def called(self) -> str:
        """The same without the first word."""
        return _called(*self._parts) if self.project else "-".join(self._parts)

    @property
    def address(self) -> str:
        """`vision-infra/dev`, as people write it to recover the deployment."""
        return f"{self.project}/{self.stack}" if self.project else self.stack

    def buckets(self, google_project: str) -> tuple[str, str]:
        """Return the default names of the catalog's and the work bucket."""
        base = google_project.split(":")[-1]  # The projects of a domain have a colon, which buckets can't have.
        longest = LONGEST_BUCKET - len(f"{base}--catalog")
        name = _joined(self._parts, longest)
        if _REFUSED_IN_BUCKETS.search(name):
            name = _hashed(_REFUSED_IN_BUCKETS.sub("g", name), self._parts, longest)
        return f"{base}-{name}-catalog", f"{base}-{name}-work"

    def account(self, name: str) -> str:
        """Return the default id of the account of one of the deployment's trainers."""
        parts = (*self._parts, name)
        id_ = _joined(parts, LONGEST_ACCOUNT)
        return id_ if id_[0].isalpha() else _hashed(f"project-{id_}", parts, LONGEST_ACCOUNT)

    @property
    def _parts(self) -> tuple[str, ...]:
        workspace = "" if self.workspace == _PLAIN_WORKSPACE else self.workspace
        return tuple(filter(None, (self.project, self.stack, workspace)))


def words_of(label: str) -> str:
    """Return words for the deployment of a label, as far as the label tells its parts."""
    identity = identity_in(label)
    return identity.words if identity else f"stack {label}"


def identity_in(label: str) -> Identity | None:
    """Return the identity in a label; None where the label does not tell its parts."""
    parts = label.split(_BETWEEN)
    if len(parts) not in (2, 3) or not all(map(_PLAIN_PART.fullmatch, parts)):
        return None
    return Identity(*parts)


def bucket_in(region: str, work: str) -> str:
    """Return the name of the work bucket in a region beside the stack's own, whose work bucket is `work`."""
    return f"{_cut(work, (work,), LONGEST_BUCKET - len(f'-{region}'))}-{region}"


def _called(project: str, stack: str, workspace: str = "") -> str:
    return f"{stack} of Pulumi project {project}{f', workspace {workspace}' if workspace else ''}"


def _joined(parts: tuple[str, ...], longest: int) -> str:
    text = _BETWEEN.join(_UNFIT.sub("-", part.lower()).strip("-") for part in parts)
    if all(map(_PLAIN_PART.fullmatch, parts)):
        return _cut(text, parts, longest)
    return _hashed(text, parts, longest)


def _cut(text: str, parts: tuple[str, ...], longest: int) -> str:
    return text if len(text) <= longest else _hashed(text, parts, longest)


def _hashed(text: str, parts: tuple[str, ...], longest: int) -> str:
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_HASH_LENGTH]
    start = text[: longest - len(_BEFORE_HASH) - _HASH_LENGTH].rstrip("-")
    return f"{start}{_BEFORE_HASH}{digest}"
