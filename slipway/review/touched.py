"""The fate of each resource: all that the engine does to it taken together, whatever it calls that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from slipway.review.inputs import top
from slipway.review.preview import UNKNOWN, Preview, Resource, Step

OURS = "slipway:"
"""Where the types of Slipway's own components begin."""
BUCKET, OBJECT = "gcp:storage/bucket:Bucket", "gcp:storage/bucketObject:BucketObject"
ACCOUNT = "gcp:serviceaccount/account:Account"
CLUSTER_TYPE = "gcp:vertex/aiPersistentResource:"
_PASSED_OVER = ("discard", "discard-replaced", "remove-pending-replace", "read", "refresh")


class Fate(StrEnum):
    """FORGOTTEN stays in the cloud, and no longer belongs to the stack. ADOPTED was there before, without a stack."""

    CREATED = "created"
    ADOPTED = "adopted"
    CHANGED = "changed"
    REPLACED = "replaced"
    DELETED = "deleted"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True)
class Touched:
    """`old` as it was deployed last, `now` as it is: None for what somebody deleted by hand. `new` as it is declared.

    `name` is the logical one. `diffs` are the paths that the engine finds to differ from `now`, `replaces` those of
    them for which it makes another one.
    """

    fate: Fate
    type: str
    name: str
    parent: str = ""
    old: Resource | None = None
    now: Resource | None = None
    new: Resource | None = None
    diffs: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()

    @property
    def goes(self) -> bool:
        """Tell whether what is there now is gone afterwards."""
        return self.fate in (Fate.DELETED, Fate.REPLACED)

    @property
    def destroyed(self) -> bool:
        return self.goes and not (self.old and self.old.stays)

    @property
    def by_hand(self) -> bool:
        """Somebody deleted it, and this deployment makes it again."""
        return self.fate is Fate.CREATED and self.old is not None

    @property
    def was(self) -> Mapping[str, Any]:
        return self.old.inputs if self.old else {}

    @property
    def becomes(self) -> Mapping[str, Any]:
        return self.new.inputs if self.new else {}

    @property
    def edited(self) -> tuple[str, ...]:
        """Top-level inputs that the program has otherwise than at the last deployment, and that are not so already."""
        return tuple(key for key in self._differing if self.was.get(key) != self.becomes.get(key))

    @property
    def put_back(self) -> tuple[str, ...]:
        """Top-level inputs that somebody changed by hand, and that become again what they were."""
        found = self.now.inputs if self.now else {}
        return tuple(key for key in self._differing if self.was.get(key) == self.becomes.get(key) != found.get(key))

    @property
    def _differing(self) -> tuple[str, ...]:
        """Return the differing fields as the engine has them: an imported resource has inputs that the program leaves
        to the cloud."""
        tops = {top(path) for path in self.diffs}
        keys = dict.fromkeys((*self.was, *self.becomes, *(self.now.inputs if self.now else ())))
        return tuple(key for key in keys if self.new is not None and (not tops or key in tops))

    @property
    def physical(self) -> str:
        """The cloud's name of it; the logical one where nothing tells."""
        for one in (self.old, self.now, self.new):
            for key in ("name", "email"):
                found = one.inputs.get(key) or one.outputs.get(key) if one else None
                if isinstance(found, str) and found != UNKNOWN:
                    return found.rsplit("/", 1)[-1]
        return self.name


def touched(preview: Preview) -> tuple[Touched, ...]:
    """Every resource that it would do something to; components and providers are none."""
    of_urn: dict[str, list[Step]] = {}
    for step in preview.steps:
        if not step.component and not step.type.startswith(OURS) and step.op not in _PASSED_OVER:
            of_urn.setdefault(step.urn, []).append(step)
    return tuple(_together(steps, preview.standing.get(urn)) for urn, steps in of_urn.items())


def overwritten(before: Resource | None, now: Resource | None) -> bool:
    """Tell whether somebody wrote other contents into an object: the engine shows their checksum alone."""
    known, found = (one.outputs.get("md5hash") if one else None for one in (before, now))
    return bool(known and found and known != found)


def _together(steps: list[Step], standing: Step | None) -> Touched:
    old = next((step.old for step in steps if step.old), None)
    return Touched(
        fate=_fate(steps),
        type=steps[0].type,
        name=steps[0].name,
        parent=steps[0].parent,
        old=standing.old if standing else old,
        now=standing.new if standing else old,
        new=next((step.new for step in reversed(steps) if step.new), None),
        diffs=tuple(dict.fromkeys(path for step in steps for path in step.diffs)),
        replaces=tuple(dict.fromkeys(path for step in steps for path in step.replaces)),
    )


def _fate(steps: list[Step]) -> Fate:
    ops = {step.op for step in steps}
    if ops & {"replace", "create-replacement", "import-replacement", "delete-before-replace"}:
        return Fate.REPLACED
    if ops & {"delete", "delete-replaced"} and not ops & {"create", "update", "import"}:
        return Fate.FORGOTTEN if all(step.old and step.old.stays for step in steps) else Fate.DELETED
    if "import" in ops:
        return Fate.ADOPTED
    return Fate.CREATED if "create" in ops else Fate.CHANGED
