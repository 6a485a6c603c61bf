"""The fields of a gcloud job file: their names and types, and those that a template can't use.

A file spells its keys as the API's JSON does (`workerPoolSpecs`) or as its Python types do (`worker_pool_specs`).
Nothing in it is passed over in silence: an unknown key is a finding, with its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from slipway.codec import camel
from slipway.formatting import nearest, quoted
from slipway.stack.yaml_file import DocumentPart

Read = Callable[[DocumentPart], Any]

_DURATION = re.compile(r"([0-9]{1,18})s")

PLACE = "the stack decides it, by the cluster that a template's machines fit"
UNSUPPORTED: Mapping[str, str] = {
    "labels": "Slipway labels each job itself, with its template, stack, commit and who sent it",
    "displayName": "a job is named after its template: give that as --name",
    "encryptionSpec": "a job has the key of the cluster that it runs on: `kmsKey` in the stack file",
    "reservedIpRanges": f"{PLACE}: `reservedIpRanges` in the stack file",
    "pscInterfaceConfig": f"{PLACE}: `psc` in the stack file",
    "protectedArtifactLocationId": "templates have no such field",
    "models": "templates have no such field",
}
"""By field of the job: why a template can't have it, and its replacement."""


def field_of(part: DocumentPart, name: str) -> DocumentPart:
    """Return a field of a mapping, however its key is spelled."""
    return next((child for key, child in part.items() if camel(key) == name), part[name])


def text(part: DocumentPart) -> str | None:
    if not isinstance(part.value, str):
        _mistyped(part, "text", f'"{part.value}"' if isinstance(part.value, int | float) else "text, in quotes")
        return None
    return part.value


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
    found = _DURATION.fullmatch(part.value) if isinstance(part.value, str) else None
    if found is None:
        _mistyped(part, "a time in whole seconds", '"3600s", for an hour')
    return int(found[1]) if found else None


def items(part: DocumentPart) -> list[DocumentPart]:
    """Return the items of a list. Anything else is its only item, as for gcloud and on Google's own pages."""
    return list(part.entries()) if isinstance(part.value, list) else [part]


def several(read: Read) -> Read:
    """Return a reader of a list, whose items `read` reads."""
    return lambda part: [read(one) for one in items(part)]


def fields(known: Mapping[str, Read], unsupported: Mapping[str, str] | None = None) -> Read:
    """Return a reader of a mapping; a mistake is a finding, and null counts as absent."""

    def mapping(part: DocumentPart) -> dict[str, Any] | None:
        if not isinstance(part.value, dict):
            _mistyped(part, "a mapping", f"fields such as {next(iter(known))}, indented below it")
            return None
        found: dict[str, Any] = {}
        for key, child in part.items():
            name = camel(key)
            if name in (unsupported or {}):
                child.wrong("a template can't have it", f"leave it out: {(unsupported or {})[name]}")
            elif name not in known:
                near = nearest(name, known)
                child.wrong(
                    "no field that a job of a template can have",
                    f"{near}, if that was meant" if near else f"leave it out; known here: {', '.join(known)}",
                )
            elif name in found:
                child.wrong(f"{name} is given twice, spelled in two ways", "keep one of them")
            elif child.value is not None:
                found[name] = known[name](child)
        return found

    return mapping


def _mistyped(part: DocumentPart, what: str, fix: str) -> None:
    part.wrong(f"{quoted(str(part.value))} is not {what}", fix)


_ENV = several(fields({"name": text, "value": text}))
_AFFINITY = fields({"reservationAffinityType": text, "key": text, "values": several(text)})
_POOL = fields(
    {
        "machineSpec": fields(
            {
                "machineType": text,
                "acceleratorType": text,
                "acceleratorCount": count,
                "tpuTopology": text,
                "reservationAffinity": _AFFINITY,
            }
        ),
        "replicaCount": count,
        "diskSpec": fields({"bootDiskType": text, "bootDiskSizeGb": count}),
        "containerSpec": fields({"imageUri": text, "command": several(text), "args": several(text), "env": _ENV}),
        "pythonPackageSpec": fields(
            {
                "executorImageUri": text,
                "packageUris": several(text),
                "pythonModule": text,
                "args": several(text),
                "env": _ENV,
            }
        ),
        "nfsMounts": several(fields({"server": text, "path": text, "mountPoint": text})),
    },
    {"lustreMounts": "templates have no such field"},
)
JOB = fields(
    {
        "workerPoolSpecs": several(_POOL),
        "scheduling": fields(
            {
                "timeout": duration,
                "restartJobOnWorkerRestart": flag,
                "strategy": text,
                "disableRetries": flag,
                "maxWaitDuration": duration,
            }
        ),
        "serviceAccount": text,
        "network": text,
        "baseOutputDirectory": fields({"outputUriPrefix": text}),
        "enableWebAccess": flag,
        "enableDashboardAccess": flag,
        "tensorboard": text,
        "experiment": text,
        "experimentRun": text,
        "persistentResourceId": text,
    },
    UNSUPPORTED,
)
"""A CustomJobSpec, which gcloud takes a file's root to be."""
