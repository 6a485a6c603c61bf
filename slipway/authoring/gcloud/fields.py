"""The fields of a gcloud job file: their names and types, and those that a template can't use.

A file spells its keys as the API's JSON does (`workerPoolSpecs`) or as its Python types do (`worker_pool_specs`).
Nothing in it is passed over in silence: an unknown key is a finding, with its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from slipway.authoring.stack.places import ITEM, right_place
from slipway.authoring.stack.yaml_file import DocumentPart, KeyPath
from slipway.base.codec import camel
from slipway.base.formatting import nearest, quoted, unfit
from slipway.model.kinds import CUSTOM_JOB

Read = Callable[[DocumentPart], Any]

_DURATION = re.compile(r"([0-9]{1,18})(\.0{1,9})?s")
_UNSPECIFIED = "_UNSPECIFIED"
_ABSENT: tuple[Any, ...] = (None, "", [], {})

IN_THE_STACK = (
    "leave it out: the stack decides it, by the cluster that a template's machines fit: `{}` in the stack file"
)
IN_PYTHON = "leave it out, and give the template `{}=` in its Python"
NO_FIELD = "leave it out: templates have no such field"


def field_of(part: DocumentPart, *names: str) -> DocumentPart:
    """Return a field of a mapping, or of the mappings in it, however its key is spelled."""
    for name in names:
        part = next((child for key, child in part.items() if camel(key) == name), part[name])
    return part


def text(part: DocumentPart) -> str | None:
    if not isinstance(part.value, str):
        _mistyped(part, "text", "text, in quotes" if part.written is None else f'"{part.written}"')
        return None
    if wrong := unfit(part.value):
        part.wrong(f"the text {wrong}", "correct it, or leave it out")
    return part.value


def choice(part: DocumentPart) -> str | None:
    """Read a value of an enumeration; empty for the one that stands for none, as `TYPE_UNSPECIFIED` does."""
    if isinstance(part.value, int):
        _mistyped(part, "a name", "the name that this number stands for in the API")
        return None
    name = text(part)
    return "" if name is not None and name.endswith(_UNSPECIFIED) else name


def count(part: DocumentPart) -> int | None:
    """Read a whole number, also in quotes: the API's JSON quotes numbers of 64 bits."""
    value = part.value
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
        return int(value)
    if part.of(int) is None:
        _mistyped(part, "a whole number", "a number, as in 2")
    return part.of(int)


def flag(part: DocumentPart) -> bool | None:
    if not isinstance(part.value, bool):
        _mistyped(part, "true or false", "true or false")
    return part.of(bool)


def duration(part: DocumentPart) -> int | None:
    """Read seconds."""
    match = _DURATION.fullmatch(part.value) if isinstance(part.value, str) else None
    if match is None:
        is_number = isinstance(part.value, int) and part.written is not None and part.written.isdecimal()
        _mistyped(part, "a time in whole seconds", f'"{part.written}s"' if is_number else '"3600s", for an hour')
    return int(match[1]) if match else None


def items(part: DocumentPart) -> list[DocumentPart]:
    """Return the items of a list. Anything else is its only item, as for gcloud and on Google's own pages."""
    if part.value in _ABSENT:
        return []
    return list(part.entries()) if isinstance(part.value, list) else [part]


@dataclass(frozen=True)
class Several:
    """A reader of a list, whose items `read` reads. None where one is mistyped."""

    read: Read

    def __call__(self, part: DocumentPart) -> list[Any] | None:
        values = [self.read(item) for item in items(part)]
        return None if None in values else values


@dataclass(frozen=True)
class Message:
    """A reader of a mapping. A mistake is a finding; None where a field is unknown or mistyped.

    Values that the API takes for absent are absent: null, empty texts and mappings, 0 and false. A time of 0 s is a
    value.
    """

    #: The readers of the fields that a template can have.
    known: Mapping[str, Read]
    #: The other fields of the API, each with the way out.
    refused: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, part: DocumentPart) -> dict[str, Any] | None:
        if not isinstance(part.value, dict):
            _mistyped(part, "a mapping", f"fields such as {next(iter(self.known))}, indented below it")
            return None
        values: dict[str, Any] = {}
        named: set[str] = set()
        readable = True
        for key, child in part.items():
            name, absent = camel(key), child.value in _ABSENT
            if name in named:
                child.wrong(f"{name} is given twice, spelled in two ways", "keep one of them")
            elif name in self.refused and not absent:
                child.wrong("a template can't have it", self.refused[name])
            elif name in self.known and not absent:
                value = self.known[name](child)
                readable = readable and value is not None
                if value or (value == 0 and self.known[name] is duration):
                    values[name] = value
            elif name not in self.known and name not in self.refused:
                child.wrong("no field of a job file here", self._fix(child, name))
                readable = False
            named.add(name)
        return values if readable else None

    def _fix(self, part: DocumentPart, name: str) -> str:
        around = part.path[:1] if camel(str(part.path[0])) == CUSTOM_JOB.spec else ()
        if way_out := dict(JOB.refusals()).get(name):
            return way_out
        if place := right_place(part.path, JOB.places(around), self.known):
            return f"move it to {place}" if "." in place else f"move it to {place}, beside workerPoolSpecs"
        if near := nearest(name, self.known):
            return f"{near}, if that was meant"
        return f"its right name, or leave it out; known here: {', '.join(self.known)}"

    def places(self, around: KeyPath = ()) -> Iterator[KeyPath]:
        """Yield the places of all fields that a template can have."""
        for name, read in self.known.items():
            yield (*around, name)
            inner = read.read if isinstance(read, Several) else read
            if isinstance(inner, Message) and read is not _ENV:  # Any `name` is another thing than a variable's.
                yield from inner.places((*around, name, ITEM) if isinstance(read, Several) else (*around, name))

    def refusals(self) -> Iterator[tuple[str, str]]:
        """Yield all other fields, each with the way out."""
        yield from self.refused.items()
        for read in self.known.values():
            inner = read.read if isinstance(read, Several) else read
            if isinstance(inner, Message):
                yield from inner.refusals()


def _mistyped(part: DocumentPart, what: str, fix: str) -> None:
    part.wrong(f"{quoted(str(part.value) if part.written is None else part.written)} is not {what}", fix)


_ENV = Several(Message({"name": text, "value": text}))
_AFFINITY = Message({"reservationAffinityType": choice, "key": text, "values": Several(text)})
_MACHINE = Message(
    {
        "machineType": text,
        "acceleratorType": choice,
        "acceleratorCount": count,
        "tpuTopology": text,
        "reservationAffinity": _AFFINITY,
    },
    {"gpuPartitionSize": "leave it out for a whole GPU: what a part of one draws of a quota is not documented"},
)
_POOL = Message(
    {
        "machineSpec": _MACHINE,
        "replicaCount": count,
        "diskSpec": Message({"bootDiskType": text, "bootDiskSizeGb": count}),
        "containerSpec": Message({"imageUri": text, "command": Several(text), "args": Several(text), "env": _ENV}),
        "pythonPackageSpec": Message(
            {
                "executorImageUri": text,
                "packageUris": Several(text),
                "pythonModule": text,
                "args": Several(text),
                "env": _ENV,
            }
        ),
        "nfsMounts": Several(Message({"server": text, "path": text, "mountPoint": text})),
    },
    {"lustreMounts": NO_FIELD},
)
JOB = Message(
    {
        "workerPoolSpecs": Several(_POOL),
        "scheduling": Message(
            {
                "timeout": duration,
                "restartJobOnWorkerRestart": flag,
                "strategy": choice,
                "disableRetries": flag,
                "maxWaitDuration": duration,
            }
        ),
        "serviceAccount": text,
        "network": text,
        "baseOutputDirectory": Message({"outputUriPrefix": text}),
        "enableWebAccess": flag,
        "enableDashboardAccess": flag,
        "tensorboard": text,
        "persistentResourceId": text,
    },
    {
        "reservedIpRanges": IN_THE_STACK.format("reservedIpRanges"),
        "pscInterfaceConfig": IN_THE_STACK.format("pscInterface"),
        "protectedArtifactLocationId": NO_FIELD,
        "models": NO_FIELD,
        "experiment": IN_PYTHON.format("experiment"),
        "experimentRun": "leave it out: each job of a template with `experiment=` has a run of its own",
        "encryptionSpec": IN_THE_STACK.format("encryption.kmsKey"),
        "displayName": "leave it out: a job is named after its template, which --name names",
        "labels": IN_PYTHON.format("labels"),
    },
)
"""A CustomJobSpec, which gcloud takes a file's root to be. The last three of what a template can't have are a job's own
beside it, for which gcloud has flags."""
