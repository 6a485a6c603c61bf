"""A request as it is sent, its claim, and whether a job is the one it asks for. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slipway.cloud.kinds import CUSTOM_JOB, Kind
from slipway.cloud.resources import CustomJob, WorkerPool
from slipway.errors import ConfigError
from slipway.labels import CODE_LABEL, TEMPLATE_LABEL


@dataclass(frozen=True)
class Request:
    """What to send, with its id, which is the stack's own; ``again`` is the command that goes on with it."""

    id: str
    stack: str
    template: str
    body: Mapping[str, Any]
    again: str
    kind: Kind = CUSTOM_JOB

    @property
    def claim(self) -> str:
        """The object that the launchers of this request race for, or empty when it has no launcher."""
        for spec in self.kind.spec_of(self.body).get("workerPoolSpecs", ()):
            args = spec.get("pythonPackageSpec", {}).get("args", ())
            if "--claim" in args[:-1]:
                return str(args[args.index("--claim") + 1])
        return ""


def same(request: Request, job: CustomJob) -> CustomJob:
    """Raises ConfigError when ``job`` carries the id and is not what is asked for now."""
    asked = CustomJob.read(request.body, request.kind)
    differences = [
        f"{field}: {_shown(theirs)} then, {_shown(ours)} now"
        for field, ours, theirs in (
            ("kind", request.kind.name, job.kind.name),
            ("template", request.template, job.labels.get(TEMPLATE_LABEL, "")),
            (
                "code",
                asked.labels.get(CODE_LABEL, "") or "the template's",
                job.labels.get(CODE_LABEL, "") or "the template's",
            ),
            ("machines", _machines(asked), _machines(job)),
            ("command", [pool.command for pool in _busy(asked)], [pool.command for pool in _busy(job)]),
            ("arguments", [pool.args for pool in _busy(asked)], [pool.args for pool in _busy(job)]),
            ("environment", [pool.env for pool in _busy(asked)], [pool.env for pool in _busy(job)]),
            ("trials", _trials(asked), _trials(job)),
            ("model", asked.model_name, job.model_name),
        )
        if ours != theirs
    ]
    if differences:
        raise ConfigError(
            f"request id {request.id} was used before, for something else ({job.display_name})",
            why="\n".join(differences),
            fix="use another --request-id, or leave it out",
        )
    return job


def _busy(job: CustomJob) -> list[WorkerPool]:
    return [pool for pool in job.worker_pools if pool.replicas]


def _machines(job: CustomJob) -> str:
    return ", ".join(f"{pool.shape.machine} × {pool.replicas}" for pool in _busy(job))


def _trials(job: CustomJob) -> str:
    return f"{job.max_trials}, {job.trials} at once" if job.max_trials else ""


def _shown(value: str | list[tuple[str, ...]]) -> str:
    return value if isinstance(value, str) else " | ".join(" ".join(words) for words in value)
