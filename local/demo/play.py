"""The journey itself: deploy a stack, submit a template, look at the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from slipway.authoring.stack.stack import Stack
from slipway.base.errors import ResourceError
from slipway.google.connection import Connection, connect
from slipway.google.failures import NotFound
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.labels import REQUEST_LABEL
from slipway.using.jobs.cost import JobCost, job_cost
from slipway.using.jobs.metrics import parse_metrics

from ..select_stack import select
from .commands import Actor


@dataclass(frozen=True)
class Run:
    """A submission that has ended: its outcome and what its code measured (`metrics.json`, empty without one)."""

    label: str
    job: VertexJob
    account: JobCost
    metrics: dict[str, float]


@dataclass(frozen=True)
class Play:
    """The stack that is played, its people and the time."""

    stack: Stack
    deployer: Actor
    submitter: Actor
    #: The engine's file, where that is another.
    config: Path | None = None
    #: The stack was deployed before: `up` skips a preview that nobody reads twice.
    again: bool = False
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def deploy(self) -> None:
        """Run `pulumi up`; a stack that does not exist is made first."""
        if self.config is None:
            self.deployer.run("pulumi", "stack", "select", "--create", self.stack.name)
        else:
            select(self.deployer.root, self.stack.name, file=self.config, environ=self.deployer.environment)
        config = ("--config-file", str(self.config)) if self.config else ()
        skipped = ("--skip-preview",) if self.again else ()
        self.deployer.run(
            "pulumi", "up", "--stack", self.stack.name, *config, "--yes", *skipped, "--suppress-permalink=true"
        )

    def destroy(self) -> None:
        """Run `pulumi destroy` with the guard hooks, which need the program, without a preview that nobody reads."""
        command = ("pulumi", "destroy", "--stack", self.stack.name, "--run-program", "--yes", "--skip-preview")
        self.deployer.run(*command, "--suppress-permalink=true", SLIPWAY_PURPOSE="destroy")

    def submit(self, label: str, template: str, request: str, parameters: Sequence[str] = ()) -> Run:
        """Submit and follow to the end. Raises CommandError when the job fails, ResourceError when it is not found."""
        chosen = [word for parameter in parameters for word in ("-p", parameter)]
        self.submitter.run("slipway", "submit", template, *chosen, "--request-id", request, "--follow")
        vertex = self._submitters().vertex(self.stack.project, self.stack.region)
        job = next(vertex.jobs(CUSTOM_JOB, f'labels.{REQUEST_LABEL}="{request}"'), None)
        if job is None:
            raise ResourceError(
                f"no job carries the request id {request}",
                why="the service's list does not show it",
                fix="look once more: slipway jobs list",
            )
        return Run(label, job, job_cost(job, self.stack.region, self.now()), self._metrics(job))

    def _metrics(self, job: VertexJob) -> dict[str, float]:
        try:
            content = self._submitters().storage.read(Location.parse(f"{job.output.rstrip('/')}/metrics.json"))
        except NotFound:
            return {}
        return dict(parse_metrics(content))

    def _submitters(self) -> Connection:
        return connect(self.submitter.environment)
