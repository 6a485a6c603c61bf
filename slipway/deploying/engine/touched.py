"""The fate of each resource: the engine's steps on it taken together; and the differences of its inputs, as much as a
sentence may repeat."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from slipway.authoring.stack.secrets import has_secret
from slipway.base.formatting import last_part, short
from slipway.deploying.engine.preview import SECRET, UNKNOWN, EngineStep, Preview, Resource
from slipway.model.facts import CATALOG

OURS = "slipway:"
"""The prefix of the types of Slipway's own components."""
BUCKET, OBJECT = "gcp:storage/bucket:Bucket", "gcp:storage/bucketObject:BucketObject"
ACCOUNT = "gcp:serviceaccount/account:Account"
CLUSTER_TYPE = "gcp:vertex/aiPersistentResource:"
BY_ITSELF = r"(?i).*(etag|fingerprint|generation|updated|time|timestamp|version|selflink|status|state)"
"""The names of fields that move by themselves."""
_PASSED_OVER = ("discard", "discard-replaced", "remove-pending-replace", "read", "refresh")


class Fate(StrEnum):
    CREATED = "created"
    #: It existed before, without a stack.
    ADOPTED = "adopted"
    CHANGED = "changed"
    REPLACED = "replaced"
    DELETED = "deleted"
    #: It stays in the cloud, and no longer belongs to the stack.
    FORGOTTEN = "forgotten"


@dataclass(frozen=True)
class Touched:
    fate: Fate
    type: str
    name: str
    parent: str = ""
    #: The resource as it was deployed last.
    old: Resource | None = None
    #: The resource as it is; None for one deleted by hand.
    now: Resource | None = None
    new: Resource | None = None
    #: The paths in which the engine finds the declaration different from `now`.
    diffs: tuple[str, ...] = ()
    #: Those of them for which it makes another resource.
    replaces: tuple[str, ...] = ()

    @property
    def goes(self) -> bool:
        return self.fate in (Fate.DELETED, Fate.REPLACED)

    @property
    def destroyed(self) -> bool:
        return self.goes and not (self.old and self.old.stays)

    @property
    def by_hand(self) -> bool:
        return self.fate is Fate.CREATED and self.old is not None

    @property
    def was(self) -> Mapping[str, Any]:
        return self.old.inputs if self.old else {}

    @property
    def becomes(self) -> Mapping[str, Any]:
        return self.new.inputs if self.new else {}

    @property
    def edited(self) -> tuple[str, ...]:
        """The top-level inputs that the program has changed, and that do not have the new value already."""
        return tuple(key for key in self._differing if self.was.get(key) != self.becomes.get(key))

    @property
    def put_back(self) -> tuple[str, ...]:
        """The top-level inputs that somebody changed by hand, and that this deployment reverts."""
        present = self.now.inputs if self.now else {}
        return tuple(key for key in self._differing if self.was.get(key) == self.becomes.get(key) != present.get(key))

    @property
    def _differing(self) -> tuple[str, ...]:
        """The differing fields as the engine has them, also those that the program leaves to the cloud."""
        tops = {top(path) for path in self.diffs}
        keys = dict.fromkeys((*self.was, *self.becomes, *(self.now.inputs if self.now else ())))
        return tuple(key for key in keys if self.new is not None and (not tops or key in tops))

    @property
    def physical(self) -> str:
        """The cloud's name of it; the logical one where that is unknown."""
        for state in (self.old, self.now, self.new):
            for key in ("name", "email"):
                name = state.inputs.get(key) or state.outputs.get(key) if state else None
                if isinstance(name, str) and name != UNKNOWN:
                    return last_part(name)
        return self.name


def touched(preview: Preview) -> tuple[Touched, ...]:
    """Return every resource that it would change; components and providers are not among them."""
    of_urn: dict[str, list[EngineStep]] = {}
    for step in preview.steps:
        if not step.component and not step.type.startswith(OURS) and step.op not in _PASSED_OVER:
            of_urn.setdefault(step.urn, []).append(step)
    return tuple(_together(steps, preview.standing.get(urn)) for urn, steps in of_urn.items())


def overwritten(before: Resource | None, now: Resource | None) -> bool:
    """Tell whether somebody wrote other contents into an object: the engine shows their checksum alone."""
    known, present = (resource.outputs.get("md5hash") if resource else None for resource in (before, now))
    return bool(known and present and known != present)


def _together(steps: list[EngineStep], standing: EngineStep | None) -> Touched:
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


def _fate(steps: list[EngineStep]) -> Fate:
    ops = {step.op for step in steps}
    if ops & {"replace", "create-replacement", "import-replacement", "delete-before-replace"}:
        return Fate.REPLACED
    if ops & {"delete", "delete-replaced"} and not ops & {"create", "update", "import"}:
        return Fate.FORGOTTEN if all(step.old and step.old.stays for step in steps) else Fate.DELETED
    if "import" in ops:
        return Fate.ADOPTED
    return Fate.CREATED if "create" in ops else Fate.CHANGED


_LONGEST = 80
_NOTHING: tuple[Any, ...] = (None, {}, [])


@dataclass(frozen=True)
class InputDifference:
    """A path from one value to another; None is a missing value."""

    path: str
    before: Any
    after: Any

    def __str__(self) -> str:
        """Return `versioning.enabled` `true` → `false`; for a possible secret the path alone."""
        if self.hidden:
            return f"`{self.path}`, which may be secret"
        return f"`{self.path}` {said(self.before)} → {said(self.after)}"

    @property
    def hidden(self) -> bool:
        return _hidden(self.path, self.before) or _hidden(self.path, self.after)

    @property
    def sides(self) -> tuple[str, str]:
        """The values as text that may be shown, empty for a missing one."""
        before, after = ("" if value is None else said(value).strip("`") for value in (self.before, self.after))
        return ("hidden", "hidden") if self.hidden else (before, after)


def said(value: Any) -> str:
    """Return a value that is not secret, in backticks and short."""
    if value is None:
        return "none"
    if value == UNKNOWN:
        return "what is known once it is deployed"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"`{short(text, _LONGEST).replace('`', chr(39))}`" if text else "empty"


def differences(before: Any, after: Any, path: str = "") -> Iterator[InputDifference]:
    """Yield the differences leaf by leaf. Lists are compared by their contents: an order alone is no difference, nor is
    an explicit empty value."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            yield from differences(before.get(key), after.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(before, list) and isinstance(after, list):
        gone, added = _less(before, after), _less(after, before)
        if len(gone) == len(added) == 1:
            yield from differences(gone[0], added[0], f"{path}[{before.index(gone[0])}]")
        elif all(isinstance(item, str) for item in (*gone, *added)):
            if gone or added:
                yield InputDifference(path, ", ".join(gone) or None, ", ".join(added) or None)
        else:
            yield from (InputDifference(f"{path}[{before.index(item)}]", item, None) for item in gone)
            yield from (InputDifference(f"{path}[{after.index(item)}]", None, item) for item in added)
    elif before != after and not (before in _NOTHING and after in _NOTHING):
        yield InputDifference(path, before, after)


def texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from texts(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for item in value:
            yield from texts(item, path)
    elif isinstance(value, str):
        yield path, value


def _less(items: list[Any], others: list[Any]) -> list[Any]:
    """Return the items of one list that another lacks, each as often as it lacks it."""
    missing, rest = [], list(others)
    for item in items:
        if item in rest:
            rest.remove(item)
        else:
            missing.append(item)
    return missing


def top(path: str) -> str:
    """Return the input at which a path begins: `versioning` of `versioning.enabled`."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def _hidden(path: str, value: Any) -> bool:
    if isinstance(value, Mapping | list):
        return any(_hidden(f"{path}.{key}", text) for key, text in texts(value))
    return SECRET in str(value) or has_secret(str(value), re.split(r"[.\[]", path)[-1])


def published_in(preview: Preview, of_several: str = "") -> str:
    """Return the bucket that has the stack's catalog; empty while none is published. `of_several`: the one to look for,
    where the program has several stacks."""
    for step in (*preview.standing.values(), *preview.steps):
        if step.type == OBJECT and step.parent == CATALOG and step.old is not None:
            bucket = str((step.old.outputs or step.old.inputs).get("bucket") or step.old.inputs.get("bucket", ""))
            if of_several in ("", bucket):
                return bucket
    return ""
