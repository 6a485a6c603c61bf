"""The worker pools of a gcloud job file as a template's, with their shared code and environment."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from slipway.catalog.placeholders import OUTPUT, placeholder
from slipway.gcloud.fields import field_of, items
from slipway.labels import VARIABLE, Launched
from slipway.machines.table import MachineError
from slipway.rules.reservations import NAME_KEY
from slipway.rules.workers import MOST_POOLS, POSITIONS
from slipway.stack.yaml_file import DocumentPart
from slipway.template import ANY_RESERVATION, Disk, Image, Package, WorkerPool
from slipway.template.jobspec import LAUNCHER
from slipway.template.worker_pool import Code

_SECRET_SUFFIX = "__SECRET"
_SECRET = re.compile(r"projects/[^/\s]+/secrets/[A-Za-z0-9_-]{1,255}/versions/(latest|[1-9][0-9]*)")
_CODES = ("containerSpec", "pythonPackageSpec")
Json = Mapping[str, Any]


class WorkersReader:
    """A reader of a file's worker pools. `output` is the job's output directory, whose placeholder replaces it in
    arguments and environment; `mounts` and `notes` are set by `read`."""

    def __init__(self, part: DocumentPart, folder: str, output: str) -> None:
        self.part, self.folder, self.output = part, folder, output.rstrip("/")
        self.notes: list[str] = []
        self.mounts: Sequence[Json] = ()

    def read(self, pools: Sequence[Json]) -> dict[str, Any]:
        """Return the template's `code`, `env`, `secrets` and `worker_pools`. An empty pool leaves its place empty."""
        parts = items(self.part)
        used = [(place, parts[place], pool) for place, pool in enumerate(pools) if pool]
        if len(pools) > MOST_POOLS or not pools[0]:
            what = f"{len(pools)} worker pools" if pools[0] else "the first worker pool is empty"
            self.part.wrong(
                f"{what}: there are 1 to {MOST_POOLS}, and the first is the chief", "correct workerPoolSpecs"
            )
            return {}
        codes = [self._code(part, pool) for _, part, pool in used]
        env = self._shared("env", [(part, self._env(pool)) for _, part, pool in used])
        self.mounts = self._shared("nfsMounts", [(part, pool.get("nfsMounts", [])) for _, part, pool in used])
        workers = tuple(
            self._worker(
                place, part, pool, code if code != codes[0] else None, index > 0 and place != used[index - 1][0] + 1
            )
            for index, ((place, part, pool), code) in enumerate(zip(used, codes, strict=True))
        )
        secrets = {
            name.removesuffix(_SECRET_SUFFIX): value
            for name, value in env
            if name.endswith(_SECRET_SUFFIX) and _SECRET.fullmatch(value)
        }
        plain = {name: value for name, value in env if name.removesuffix(_SECRET_SUFFIX) not in secrets}
        return {"code": codes[0], "env": plain, "secrets": secrets, "worker_pools": workers}

    def _worker(self, place: int, part: DocumentPart, pool: Json, code: Code | None, moved: bool) -> WorkerPool:
        machine = pool.get("machineSpec", {})
        asked: dict[str, Any] = {
            "role": POSITIONS[place],
            "machine": machine.get("machineType", ""),
            "disk": Disk.read(pool.get("diskSpec", {})),
            "replicas": pool.get("replicaCount", 1),
            "args": tuple(self._text(one) for one in self._arguments(pool)),
            "position": POSITIONS[place] if moved else None,
            "code": code,
            "reservation": self._reservation(field_of(part, "machineSpec"), machine.get("reservationAffinity")),
            "tpu_topology": machine.get("tpuTopology"),
        }
        accelerator = machine.get("acceleratorType")
        attached = {"accelerator": accelerator, "accelerator_count": machine.get("acceleratorCount")}
        worker = WorkerPool(**asked, **attached)
        try:
            shape = worker.shape
        except MachineError as error:
            field_of(field_of(part, "machineSpec"), "machineType").wrong(error.what, error.fix)
            return worker
        if accelerator is None:
            return worker
        try:
            bare = WorkerPool(**asked)
            return bare if bare.shape == shape else worker
        except MachineError:
            return worker  # Its accelerators are attached to it.

    def _arguments(self, pool: Json) -> list[str]:
        """Return the arguments without the launcher's, which each template's package adds itself."""
        arguments: list[str] = next((pool[key].get("args", []) for key in _CODES if key in pool), [])
        launched = _launched(pool.get("pythonPackageSpec", {}))
        return launched.arguments if launched else arguments

    def _code(self, part: DocumentPart, pool: Json) -> Code:
        if len([key for key in _CODES if key in pool]) != 1:
            part.wrong("a worker pool runs a containerSpec or a pythonPackageSpec, and one of them", "give one of both")
            return Image("")
        if "containerSpec" in pool:
            container = pool["containerSpec"]
            image = Image(container.get("imageUri", ""), tuple(map(self._text, container.get("command", []))))
            for _, problem in image.problems():
                pinned = f"gcloud artifacts docker images describe {image.uri} prints the digest"
                field_of(field_of(part, "containerSpec"), "imageUri").wrong(problem, pinned)
            return image
        package = pool["pythonPackageSpec"]
        launched = _launched(package)
        module = launched.module if launched else package.get("pythonModule", "")
        code = Package(self.folder, module, package.get("executorImageUri", ""))
        where = field_of(field_of(part, "pythonPackageSpec"), "packageUris")
        if not self.folder:
            fix = f"--code jobs/{module.split('.')[0] or 'NAME'}, the folder of this repository that has the same code"
            where.wrong("what lies in a bucket is no reviewed code", fix)
        else:
            note = f"the code is {self.folder}'s, and not that of {', '.join(package.get('packageUris', []))}"
            self.notes += [note] if note not in self.notes else []
            for _, problem in code.problems():
                where.wrong(problem, "--code FOLDER, whose name is the module's first part")
        return code

    def _env(self, pool: Json) -> list[tuple[str, str]]:
        """Return the environment without the variables that Slipway sets itself."""
        listed: list[Json] = next((pool[key].get("env", []) for key in _CODES if key in pool), [])
        named = [(one.get("name", ""), self._text(one.get("value", ""))) for one in listed]
        return [one for one in named if one[0] != VARIABLE]

    def _shared(self, what: str, each: list[tuple[DocumentPart, list[Any]]]) -> list[Any]:
        """Require the same value of all worker pools: a template has it once."""
        first = each[0][1]
        for part, found in each[1:]:
            if found != first:
                part.wrong(f"its {what} is not that of the first worker pool", f"the same {what} in all of them")
        return first

    def _reservation(self, part: DocumentPart, affinity: Json | None) -> str | None:
        kind, values = (affinity or {}).get("reservationAffinityType"), (affinity or {}).get("values", [])
        if kind in (None, "NO_RESERVATION"):
            return None
        if kind == "ANY_RESERVATION":
            return ANY_RESERVATION
        if kind != "SPECIFIC_RESERVATION" or len(values) != 1 or (affinity or {}).get("key") != NAME_KEY:
            where = field_of(part, "reservationAffinity")
            where.wrong(
                "not one reservation by name", f"SPECIFIC_RESERVATION, key: {NAME_KEY}, and its path as the value"
            )
            return None
        return str(values[0])

    def _text(self, text: str) -> str:
        return text.replace(self.output, placeholder(OUTPUT)) if self.output else text


def _launched(package: Json) -> Launched | None:
    return Launched.read(package.get("args", ())) if package.get("pythonModule") == LAUNCHER else None
