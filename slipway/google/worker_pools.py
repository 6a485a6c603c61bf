"""The worker pools of a job in Vertex AI, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass

from slipway.google.answers import Json
from slipway.model.catalog.command_line import program
from slipway.model.labels import Launched, launcher_in
from slipway.model.machines.spec import MachineSpec
from slipway.model.rules.code import SCRIPT

_COMMAND = "--command="


@dataclass(frozen=True)
class WorkerPool:
    """A role of a job: `replicas` equal machines, running a package's module or an image."""

    machine: MachineSpec
    replicas: int
    image: str = ""
    module: str = ""
    args: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    #: `NAME=value`, in the request's order.
    env: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    reservations: tuple[str, ...] = ()
    #: It takes machines of a reservation, named or not.
    reserves: bool = False
    #: The gs:// URI of the launcher that starts an image's command, empty for none. The others are the template's then.
    launcher: str = ""

    @property
    def launched(self) -> bool:
        """Tell whether it takes the claim before its code."""
        return bool(self.module or self.launcher)

    @property
    def program(self) -> tuple[str, ...]:
        """The program that somebody named for a folder of any files; empty for a template's own code."""
        given = (word.removeprefix(_COMMAND) for word in self.args if word.startswith(_COMMAND))
        return program(next(given, "")) if SCRIPT in self.args else ()

    @classmethod
    def read(cls, body: Json) -> WorkerPool:
        package, container = body.get("pythonPackageSpec", {}), body.get("containerSpec", {})
        command, launched = tuple(map(str, container.get("command", ()))), Launched.of(container) if container else None
        folders = [word[7:] for word in launched.others if word.startswith("--code=gs://")] if launched else []
        affinity = body.get("machineSpec", {}).get("reservationAffinity", {})
        return cls(
            machine=MachineSpec.read(body),
            replicas=int(body.get("replicaCount", 0)),
            image=str(package.get("executorImageUri") or container.get("imageUri", "")),
            module=str(package.get("pythonModule", "")),
            args=tuple(map(str, package.get("args") or container.get("args", ()))),
            packages=tuple(map(str, package.get("packageUris", folders))),
            env=tuple(
                f"{variable['name']}={variable.get('value', '')}"
                for variable in package.get("env") or container.get("env", ())
            ),
            command=launched.command if launched else command,
            reservations=tuple(map(str, affinity.get("values", ()))),
            reserves=affinity.get("reservationAffinityType") in ("SPECIFIC_RESERVATION", "ANY_RESERVATION"),
            launcher=launcher_in(command),
        )
