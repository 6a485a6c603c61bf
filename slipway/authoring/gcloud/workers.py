"""The worker pools of a gcloud job file as a template's, with their shared code, environment and mounts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from slipway.authoring.gcloud.environment import CODES, Environment, environment
from slipway.authoring.gcloud.fields import field_of, items
from slipway.authoring.gcloud.output import Note, OutputReader
from slipway.authoring.stack.secrets import KEEP, assigned, certainly_secret, looks_secret
from slipway.authoring.stack.yaml_file import DocumentPart
from slipway.authoring.template.declaration import NfsMount
from slipway.authoring.template.jobspec import LAUNCHER
from slipway.authoring.template.worker_pool import ANY_RESERVATION, Code, Image, Package, WorkerPool
from slipway.base.formatting import counted
from slipway.model.labels import Launched
from slipway.model.machines.spec import Disk
from slipway.model.machines.table import MachineError
from slipway.model.rules.code import IMAGE, digest_command
from slipway.model.rules.reservations import NAME_KEY
from slipway.model.rules.workers import LARGEST_DISK, MOST_POOLS, POSITIONS, SMALLEST_DISK

Json = Mapping[str, Any]
_FLAG, _WORD = re.compile(r"--?[A-Za-z][\w.-]*"), re.compile(r"[A-Za-z+][\w.+-]*")
_NFS = "/mnt/nfs/"
"""The folder that all mounts are below."""
_MACHINE_FIELDS = {"machine": "machineType", "count": "acceleratorCount", "topology": "tpuTopology"}
"""Fields of the API by those of a MachineError, of which all others are the accelerator's type."""


UNPINNED = f"@sha256:{'0' * 64}"
"""The digest of an image in a draft that has none."""


class WorkersReader:
    """A reader of a file's worker pools. `folder`: of a Python package's code. `output`: the reader of their texts.
    `is_draft`: an image without a digest is a note."""

    def __init__(self, part: DocumentPart, folder: str, output: OutputReader, *, is_draft: bool = False) -> None:
        self.part, self.folder, self.output, self.notes = part, folder, output, output.notes
        self.is_draft = is_draft

    def read(self, pools: Sequence[Json]) -> dict[str, Any]:
        """Return the template's fields. An empty pool leaves its place empty."""
        pools, parts = self._with_chief(pools, items(self.part))
        used = [(place, parts[place], pool) for place, pool in enumerate(pools) if pool]
        if len(pools) > MOST_POOLS or not pools[0]:
            what = f"{len(pools)} worker pools" if pools[0] else "the first worker pool is empty"
            self.part.wrong(
                f"{what}: there are 1 to {MOST_POOLS}, and the first is the chief", "correct workerPoolSpecs"
            )
            return {}
        codes = [self._code(part, pool) for _, part, pool in used]
        variables = environment([(part, pool) for _, part, pool in used], self.output)
        workers = tuple(
            WorkerPool(
                **self._machine(part, pool),
                replicas=self._replicas(part, pool, first=index == 0),
                args=tuple(self._arguments(part, pool, variables)),
                role=POSITIONS[place],
                position=POSITIONS[place] if index and place != used[index - 1][0] + 1 else None,
                code=code if code != codes[0] else None,
                env=variables.own[index],
            )
            for index, ((place, part, pool), code) in enumerate(zip(used, codes, strict=True))
        )
        return {
            "code": codes[0],
            "env": variables.shared,
            "secrets": variables.secrets,
            "worker_pools": workers,
            "nfs_mounts": self._mounts(used),
        }

    def _with_chief(
        self, pools: Sequence[Json], parts: Sequence[DocumentPart]
    ) -> tuple[Sequence[Json], Sequence[DocumentPart]]:
        """Return the pools and their parts, with the first one's further replicas as workers if it has no workers."""
        count = int(pools[0].get("replicaCount") or 1) if pools else 1
        if count < 2 or any(pools[1:2]):
            return pools, parts
        where = field_of(parts[0], "replicaCount")
        self.notes.append(Note(where, f"replicaCount: became 1 chief and {counted(count - 1, 'worker')}"))
        split = [{**pools[0], "replicaCount": 1}, {**pools[0], "replicaCount": count - 1}]
        return [*split, *pools[2:]], [parts[0], parts[0], *parts[2:]]

    def _mounts(self, used: Sequence[tuple[int, DocumentPart, Json]]) -> tuple[NfsMount, ...]:
        """Return the mounts that all worker pools have, as a template's are those of each."""
        _, first, given = used[0]
        mounts: list[Json] = given.get("nfsMounts", [])
        for _, part, pool in used[1:]:
            if pool.get("nfsMounts", []) != mounts:
                what = "other mounts than those of the first worker pool, and a template's are those of each"
                field_of(part, "nfsMounts").wrong(what, "the same nfsMounts in each worker pool that is used")
        read = []
        for part, mount in zip(items(field_of(first, "nfsMounts")), mounts, strict=True):
            point = mount.get("mountPoint", "")
            if (inner := point.removeprefix(_NFS)) != point:
                self.notes.append(
                    Note(field_of(part, "mountPoint"), f"mountPoint: {point} became {inner}, its folder there")
                )
            read.append(NfsMount(mount.get("server", ""), mount.get("path", ""), inner))
        return tuple(read)

    def _machine(self, pool: DocumentPart, given: Json) -> dict[str, Any]:
        part, spec = field_of(pool, "machineSpec"), given.get("machineSpec", {})
        asked: dict[str, Any] = {
            "machine": spec.get("machineType", ""),
            "disk": Disk.read(given.get("diskSpec", {})),
            "accelerator": spec.get("acceleratorType"),
            "accelerator_count": spec.get("acceleratorCount"),
            "tpu_topology": spec.get("tpuTopology"),
            "reservation": _reservation(field_of(part, "reservationAffinity"), spec.get("reservationAffinity", {})),
        }
        try:
            worker = WorkerPool("", **asked)
            shape = worker.shape
        except MachineError as error:
            field_of(part, _MACHINE_FIELDS.get(error.field, "acceleratorType")).wrong(error.what, error.fix)
            return asked
        if worker.spec.disk.type not in shape.disks:
            where = field_of(pool, "diskSpec", "bootDiskType")
            where.wrong(f"{worker.spec.disk.type!r} does not fit {shape.type}", f"one of {', '.join(shape.disks)}")
        if not SMALLEST_DISK <= worker.spec.disk.size_gb <= LARGEST_DISK:
            where = field_of(pool, "diskSpec", "bootDiskSizeGb")
            where.wrong(
                f"{worker.spec.disk.size_gb} GB is not a size of a boot disk", f"{SMALLEST_DISK} to {LARGEST_DISK}"
            )
        for field, sent in worker.spec.request()["machineSpec"].items():
            if field not in spec:
                what = f"{field}: became {sent}, as {shape.type} has {worker.spec.accelerators} built in"
                self.notes.append(Note(field_of(part, field), what))
        return asked

    def _replicas(self, part: DocumentPart, pool: Json, *, first: bool) -> int:
        where = field_of(part, "replicaCount")
        replicas = int(pool.get("replicaCount") or 1)
        if "replicaCount" not in pool:
            self.notes.append(Note(where, "replicaCount: became 1, as each worker pool that is used has replicas"))
        if first and replicas != 1:
            where.wrong(f"{replicas} replicas: the first worker pool is the chief, and has 1", "1, or another pool")
        elif replicas < 1:
            where.wrong(f"{replicas} is not a number of replicas", "1 or more, or leave the worker pool empty: {}")
        return replicas

    def _arguments(self, part: DocumentPart, pool: Json, variables: Environment) -> list[str]:
        """Return the arguments without the launcher's, which each template's package adds itself."""
        key = next((key for key in CODES if key in pool), CODES[0])
        given: list[str] = pool.get(key, {}).get("args", [])
        launched = _launched(pool.get(key, {}))
        own = launched.arguments if launched else given
        parts = items(field_of(part, key, "args"))[len(given) - len(own) :]
        return [
            self._text(argument, name, text, variables.secrets)
            for argument, name, text in zip(parts, _names(own, "args"), own, strict=True)
        ]

    def _text(self, part: DocumentPart, name: str, text: str, secrets: Mapping[str, str]) -> str:
        """Return an argument as a template has it. One that certainly is a secret is a finding, without its value."""
        named = assigned(text) if text.startswith(f"{name}=") else [(name, text), *assigned(text)]
        suspects = [key for key, value in named if value != key and looks_secret(value, key.lstrip("-"))]
        if any(map(looks_secret, text.splitlines())) or any(
            certainly_secret(value, key.lstrip("-")) for key, value in named
        ):
            part.wrong(
                f"{suspects[0] if suspects else name} has a secret in plain text",
                f"{KEEP}: a variable of the environment, named in env here",
            )
        elif suspects:
            self.notes.append(Note(part, f"{suspects[0]}: is copied as it is; if it is a secret, {KEEP}"))
        for secret in secrets:
            if f"$({secret})" in text:
                what = f"{name}: $({secret}) is no variable of the job any more; its code reads {secret} itself"
                self.notes.append(Note(part, what))
        return self.output.text(part, name, text)

    def _code(self, part: DocumentPart, pool: Json) -> Code:
        keys = [key for key in CODES if key in pool]
        if len(keys) != 1:
            what = "a worker pool runs a containerSpec or a pythonPackageSpec, and one of them"
            part.wrong(f"{what}; this one has {'both' if keys else 'neither'}", "give one of both")
            return Image("")
        where = field_of(part, keys[0])
        if keys[0] == "containerSpec":
            return self._image(where, pool[keys[0]])
        return self._package(where, pool[keys[0]])

    def _image(self, part: DocumentPart, container: Json) -> Image:
        launched, given = _launched(container), list(container.get("command", []))
        parts = items(field_of(part, "command"))
        if launched:
            given = list(launched.command)
            parts = [field_of(part, "args")] * len(given)
        command = tuple(self._text(*word, {}) for word in zip(parts, _names(given, "command"), given, strict=False))
        image = Image(container.get("imageUri", ""), command, launcher=bool(launched) or not command)
        if command and not launched:
            what = "command: starts as it is, at least once; without launcher=False the image's python3 starts it, once"
            self.notes.append(Note(field_of(part, "command"), what))
        where = field_of(part, "imageUri")
        if self.is_draft and _is_unpinned(image.uri):
            what = "imageUri: has no digest, which `slipway check` and review require"
            what = f"{what}: `{digest_command(image.uri)}` prints it"
            self.notes.append(Note(where, what))
            image = replace(image, uri=f"{image.uri}{UNPINNED}")
        for _, problem in image.problems():
            where.wrong(problem, "HOST/PATH@sha256:DIGEST, whose digest has 64 hexadecimal digits")
        return image

    def _package(self, part: DocumentPart, package: Json) -> Package:
        launched = _launched(package)
        module = launched.module if launched else package.get("pythonModule", "")
        code = Package(self.folder, module, package.get("executorImageUri", ""))
        where = field_of(part, "packageUris")
        if not self.folder:
            fix = f"--code jobs/{module.split('.')[0] or 'NAME'}, the folder of this repository that has the same code"
            where.wrong("what lies in a bucket is no reviewed code", fix)
            return code
        uris = ", ".join(package.get("packageUris", []))
        self.notes.append(Note(where, f"packageUris: {uris or 'none'} became the code in {self.folder}"))
        for field, problem in code.problems():
            fix = "--code FOLDER, whose name is the module's first part"
            mistaken = field_of(part, "pythonModule") if field == "code.module" else where
            mistaken.wrong(problem, fix)
        return code


def _reservation(part: DocumentPart, given: Json) -> str | None:
    """Return the template's reservation. NO_RESERVATION and no affinity are one (vertex-rules 4.2)."""
    kind, values = given.get("reservationAffinityType"), given.get("values", [])
    named = bool(values) or "key" in given
    if kind == "SPECIFIC_RESERVATION" and len(values) == 1 and given.get("key") == NAME_KEY:
        return str(values[0])
    if kind == "SPECIFIC_RESERVATION" or named:
        what = f"SPECIFIC_RESERVATION, key: {NAME_KEY}, and its path as the only value"
        part.wrong("not one reservation by name", what)
    return ANY_RESERVATION if kind == "ANY_RESERVATION" else None


def _names(texts: Sequence[str], field: str) -> list[str]:
    """Return each argument's name for messages: `--out`, `lr` of `lr=3`, the flag before it, or `args[1]`."""
    before = ("", *texts)
    return [
        _name(text, last) or f"{field}[{index}]" for index, (text, last) in enumerate(zip(texts, before, strict=False))
    ]


def _name(text: str, before: str) -> str:
    head, equals, _ = text.partition("=")
    if _FLAG.fullmatch(head) or (equals and _WORD.fullmatch(head)):
        return head
    return before if _FLAG.fullmatch(before) else ""


def _launched(task: Json) -> Launched | None:
    return Launched.of(task) if "imageUri" in task or task.get("pythonModule") == LAUNCHER else None


def _is_unpinned(uri: str) -> bool:
    """Return whether an image's name is valid and has no digest."""
    name = IMAGE.fullmatch(uri)
    return name is not None and not name["digest"]
