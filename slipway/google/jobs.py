"""Jobs in Vertex AI as frozen values: every kind of job, with its worker pools and trials. Times are UTC."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from slipway.base.formatting import last_part, span
from slipway.google.answers import Json, Regional, parse_timestamp, plain, told
from slipway.google.trials import Trial, best, searched
from slipway.model.capacity import CAPACITY_TYPES, POOL, of_job
from slipway.model.kinds import CUSTOM_JOB, JobKind
from slipway.model.labels import (
    CAPACITY_TYPE_LABEL,
    REQUEST_LABEL,
    TEMPLATE_LABEL,
    USER_LABEL,
    Revision,
    code_revision_of,
    note_in,
    parameters_in,
    revision_of,
    team_of,
)
from slipway.model.machines.spec import MachineGroup, MachineSpec

ENDED = frozenset(f"JOB_STATE_{state}" for state in CUSTOM_JOB.ended)
"""The final states of a job. EXPIRED and PARTIALLY_SUCCEEDED are among them, though the Vertex SDK waits on."""

_WORD = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
_BUCKET = re.compile(r"(?:gs://|/gcs/)([a-z0-9][a-z0-9_.-]*[a-z0-9])")


@dataclass(frozen=True)
class WorkerPool:
    """A role of a job: `replicas` equal machines, running a package's module or an image.

    `env` are `NAME=value`, in the request's order. `reservations`: full paths of those named; `reserves`: it takes any.
    """

    machine: MachineSpec
    replicas: int
    image: str = ""
    module: str = ""
    args: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    reservations: tuple[str, ...] = ()
    reserves: bool = False

    @classmethod
    def read(cls, body: Json) -> WorkerPool:
        package, container = body.get("pythonPackageSpec", {}), body.get("containerSpec", {})
        affinity = body.get("machineSpec", {}).get("reservationAffinity", {})
        return cls(
            machine=MachineSpec.read(body),
            replicas=int(body.get("replicaCount", 0)),
            image=str(package.get("executorImageUri") or container.get("imageUri", "")),
            module=str(package.get("pythonModule", "")),
            args=tuple(map(str, package.get("args") or container.get("args", ()))),
            packages=tuple(map(str, package.get("packageUris", ()))),
            env=tuple(
                f"{one['name']}={one.get('value', '')}" for one in package.get("env") or container.get("env", ())
            ),
            command=tuple(map(str, container.get("command", ()))),
            reservations=tuple(map(str, affinity.get("values", ()))),
            reserves=affinity.get("reservationAffinityType") in ("SPECIFIC_RESERVATION", "ANY_RESERVATION"),
        )


@dataclass(frozen=True)
class VertexJob(Regional):
    """A job of any kind, in a custom job's terms: a pipeline's states are named as a job's are.

    Times are None until they have come; `worker_pools` (of one trial) keep their position, empty ones too. `trials` run
    at once, of `max_trials` in all (0 without trials). `backing` is the job that a pipeline runs as, once it has one,
    `model` (with its `@version`) its uploaded model, `model_name` that model's display name. `tried` are a tuning job's
    trials so far, `goals` MAXIMIZE or MINIMIZE by metric. `max_wait`: seconds that the service waits for its machines,
    0 forever, None if not set. `buckets` are all that it names: for packages, outputs, in arguments. `experiment` and
    `experiment_run` are full names, `tensorboard` that of the one which takes its logs. `tuned`: the parameters that
    its trials choose. `shells`: by replica, the address of its shell while it runs.
    """

    name: str
    display_name: str
    state: str
    labels: Mapping[str, str] = field(default_factory=dict)
    worker_pools: tuple[WorkerPool, ...] = ()
    persistent_resource_id: str = ""
    strategy: str = ""
    output: str = ""
    service_account: str = ""
    create_time: datetime | None = None
    start_time: datetime | None = None
    end_time: datetime | None = None
    update_time: datetime | None = None
    error: str = ""
    kind: JobKind = CUSTOM_JOB
    trials: int = 1
    backing: str = ""
    model: str = ""
    tried: tuple[Trial, ...] = ()
    goals: Mapping[str, str] = field(default_factory=dict)
    max_wait: float | None = None
    experiment_run: str = ""
    tensorboard: str = ""
    max_trials: int = 0
    model_name: str = ""
    buckets: frozenset[str] = frozenset()
    experiment: str = ""
    tuned: tuple[str, ...] = ()
    shells: Mapping[str, str] = field(default_factory=dict)

    @property
    def template(self) -> str:
        """The template's name; empty for a job of none, as are `request_id` and `user`."""
        return self.labels.get(TEMPLATE_LABEL, "")

    @property
    def request_id(self) -> str:
        return self.labels.get(REQUEST_LABEL, "")

    @property
    def user(self) -> str:
        return self.labels.get(USER_LABEL, "")

    @property
    def team(self) -> str:
        """The team that it counts for; empty where its labels name none."""
        return team_of(self.labels)

    @property
    def revision(self) -> Revision:
        """The reviewed commit that defined its template."""
        return revision_of(self.labels)

    @property
    def code(self) -> Revision:
        """The commit that --code packed; none for a tree that was never committed, and for reviewed code."""
        return code_revision_of(self.labels)

    @property
    def best_trial(self) -> Trial | None:
        """The best of its trials that have succeeded so far; None where there is none, or no single best one."""
        return best(self.tried, self.goals)

    @property
    def called(self) -> str:
        """The job's name, or its number where it has none."""
        return self.display_name or self.id

    @property
    def typed(self) -> str:
        """The job's name, or its number where a shell might read more into a name."""
        return self.display_name if _WORD.fullmatch(self.display_name) else self.id

    @property
    def numbered(self) -> str:
        """The job's number, and who sent it, where a name may be another job's as well: `job 4711, sent by ada`."""
        return f"job {self.id}, sent by {self.user or 'somebody'}"

    @property
    def ended(self) -> bool:
        """Tell whether the job has ended; an unknown state has not, so that nothing is deleted under it."""
        return self.state in ENDED

    @property
    def capacity_type(self) -> str:
        """The source of its machines; for a job that is not Slipway's, as far as its request tells."""
        return POOL if self.persistent_resource_id else self._without_pool

    @property
    def preemptible(self) -> bool:
        """Tell whether the job's machines draw preemptible quota, as Spot and flex-start do."""
        return CAPACITY_TYPES[self._without_pool].preemptible

    @property
    def _without_pool(self) -> str:
        sent_by = self.labels.get(CAPACITY_TYPE_LABEL, "")
        return of_job(self.strategy, sent_by, any(one.reserves for one in self.worker_pools))

    @property
    def machines(self) -> tuple[MachineGroup, ...]:
        """The machines of all concurrent trials together."""
        return tuple(
            MachineGroup(pool.machine, pool.replicas * self.trials) for pool in self.worker_pools if pool.replicas
        )

    def owner_and_age(self, now: datetime) -> str:
        """Return `ada, running 3 h 12 min`, as far as both are known."""
        since = self.start_time or self.create_time
        age = f" {span((now - since).total_seconds())}" if since else ""
        return ", ".join(filter(None, (self.user, f"{state_word(self.state)}{age}")))

    def needs(self, name: str) -> bool:
        """Tell whether it runs as this account, or reads or writes in this bucket."""
        return name == self.service_account or name in self.buckets

    @property
    def run_of_experiment(self) -> str:
        """The experiment and run: `digits, run tune-7k2p3f9a`; empty for a job of no run. A run's id begins with its
        experiment's."""
        experiment, run = map(last_part, (self.experiment, self.experiment_run))
        return f"{experiment}, run {run.removeprefix(f'{experiment}-')}" if run else experiment

    @property
    def packages(self) -> frozenset[str]:
        """The gs:// URIs of the code that its replicas install, again at each restart."""
        return frozenset(one for pool in self.worker_pools for one in pool.packages)

    @property
    def reservations(self) -> frozenset[str]:
        """The full paths of the reservations that its machines come from, as far as it names them."""
        return frozenset(one for pool in self.worker_pools for one in pool.reservations)

    @property
    def replicas(self) -> int:
        return sum(pool.replicas for pool in self.worker_pools)

    @property
    def parameters(self) -> Mapping[str, int | float | str | bool] | None:
        """The recorded parameters; None where the job records none."""
        return parameters_in(one for pool in self.worker_pools for one in pool.env)

    @property
    def note(self) -> str:
        """What the submitter noted about it, empty for nothing."""
        return note_in(one for pool in self.worker_pools for one in pool.env)

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The custom jobs that are measured for this job: the job itself, its trials' jobs, or the one behind it."""
        behind = [*(trial.job for trial in self.tried), self.backing]
        return tuple(last_part(name) for name in ([self.name] if self.kind.runs_itself else behind) if name)

    @property
    def log_ids(self) -> tuple[str, ...]:
        """The ids in its log lines; a trial's lines have that of the tuning job, as gcloud looks for them."""
        return (self.id, *self.run_ids) if self.kind.has_trials else self.run_ids

    @classmethod
    def read(cls, body: Json, kind: JobKind = CUSTOM_JOB) -> VertexJob:
        spec, trials = kind.living(body)
        max_wait = spec.get("scheduling", {}).get("maxWaitDuration")
        return cls(
            name=plain(body.get("name", "")),
            display_name=plain(body.get("displayName", "")),
            state=plain(kind.state(body)),
            labels={key: plain(value) for key, value in body.get("labels", {}).items()},
            worker_pools=tuple(WorkerPool.read(pool) for pool in spec.get("workerPoolSpecs", ())),
            persistent_resource_id=last_part(spec.get("persistentResourceId", "")),
            strategy=str(spec.get("scheduling", {}).get("strategy", "")),
            output=str(spec.get("baseOutputDirectory", {}).get("outputUriPrefix", "")),
            service_account=str(spec.get("serviceAccount", "")),
            create_time=parse_timestamp(body.get("createTime")),
            start_time=parse_timestamp(body.get("startTime")),
            end_time=parse_timestamp(body.get("endTime")),
            update_time=parse_timestamp(body.get("updateTime")),
            error=told(body.get("error", {}).get("message")),
            kind=kind,
            trials=trials,
            backing=kind.backing(body),
            model=_model(body),
            tried=tuple(Trial.read(trial) for trial in body.get("trials", ())),
            goals={one["metricId"]: one.get("goal", "") for one in body.get("studySpec", {}).get("metrics", ())},
            max_wait=None if max_wait is None else float(max_wait.removesuffix("s")),
            experiment=str(spec.get("experiment", "")),
            experiment_run=str(spec.get("experimentRun", "")),
            tensorboard=str(spec.get("tensorboard", "")),
            max_trials=int(body.get("maxTrialCount") or 0),
            model_name=str(body.get("modelToUpload", {}).get("displayName", "")),
            buckets=frozenset(_BUCKET.findall(json.dumps(body))),
            tuned=tuple(searched(body.get("studySpec", {}).get("parameters", ()))),
            shells=dict(body.get("webAccessUris", {})),
        )


def state_word(state: str) -> str:
    """Return `JOB_STATE_RUNNING` as `running`."""
    return state.removeprefix("JOB_STATE_").lower().replace("_", " ")


def distinct(some: Iterable[VertexJob]) -> tuple[VertexJob, ...]:
    """Leave out the jobs by which others run: the custom job behind a pipeline, and those of a tuning job's trials."""
    listed = {one.name: one for one in some}
    behind = {one.backing for one in listed.values()} | {
        trial.job for one in listed.values() for trial in one.tried if trial.job
    }
    return tuple(one for name, one in listed.items() if name not in behind)


def last_ends(jobs: Iterable[VertexJob]) -> Mapping[str, datetime]:
    """Return the end of the last job on each cluster, by the cluster's id."""
    found: dict[str, datetime] = {}
    for job in jobs:
        if job.end_time and job.persistent_resource_id:
            on = job.persistent_resource_id
            found[on] = max(job.end_time, found.get(on, job.end_time))
    return found


def _model(body: Json) -> str:
    uploaded = body.get("modelToUpload", {})
    name, version = uploaded.get("name", ""), uploaded.get("versionId", "")
    return f"{name}@{version}" if name and version and "@" not in name else str(name)
