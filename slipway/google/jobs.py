"""Jobs in Vertex AI as frozen values: every kind of job, with its worker pools and trials. Times are UTC."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from slipway.base.formatting import last_part, span
from slipway.google.answers import Json, Regional, displayable, parse_timestamp, plain
from slipway.google.clusters import PersistentResource
from slipway.google.pipeline_tasks import PipelineTask, tasks_of
from slipway.google.trials import Trial, best, searched
from slipway.google.worker_pools import WorkerPool
from slipway.model.capacity import CAPACITY_TYPES, POOL, of_job
from slipway.model.catalog.parameter_types import Value
from slipway.model.job_state import JobState
from slipway.model.kinds import CUSTOM_JOB, PIPELINE_JOB, JobKind
from slipway.model.labels import (
    CAPACITY_TYPE_LABEL,
    NAME_LABEL,
    PIPELINE_LABEL,
    REQUEST_LABEL,
    RUN_LABEL,
    SHAPE,
    TEMPLATE_LABEL,
    USER_LABEL,
    YIELD,
    Revision,
    code_revision_of,
    note_in,
    parameters_in,
    race_in,
    record_in,
    revision_of,
    team_of,
)
from slipway.model.machines.spec import MachineGroup
from slipway.model.own_settings import OwnSettings

CANCELLING, CANCELLED = "JOB_STATE_CANCELLING", "JOB_STATE_CANCELLED"
FAILED = frozenset({"JOB_STATE_FAILED", "JOB_STATE_EXPIRED"})
"""The final states of a job that failed, or did not get its machines in time."""
ENDED = frozenset(f"JOB_STATE_{state}" for state in CUSTOM_JOB.ended)
"""The final states of a job. EXPIRED and PARTIALLY_SUCCEEDED are among them, though the Vertex SDK waits on."""

_BY_LIMIT = frozenset({CANCELLED, "JOB_STATE_FAILED"})
"""The states in which the service may leave a job that reached its time limit."""
_EARLY_S = 0.5
"""The seconds by which its times may say less than the limit."""

NO_MACHINES = re.compile(r"\bstock-?out\b|resources are insufficient", re.IGNORECASE)
"""The service's words where it has no machines for a job."""

AT_LEAST_ONCE = (
    "at least once: an image starts without Slipway's launcher, so a submission whose answer is lost may run it twice"
)

_WORD = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
# Each is looked for alone: a text is searched several times as fast for a pattern that begins with a letter.
_BUCKETS = tuple(re.compile(f"{start}([a-z0-9][a-z0-9_.-]*[a-z0-9])") for start in ("gs://", "/gcs/"))


@dataclass(frozen=True)
class VertexJob(Regional):
    """A job of any kind, in a custom job's terms: a pipeline's states are named as a job's are.

    Times are None until they have come.
    """

    name: str
    display_name: str
    state: str
    labels: Mapping[str, str] = field(default_factory=dict)
    #: Those of one trial, in their positions, empty ones too.
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
    #: The number that run at once.
    trials: int = 1
    #: The job that a pipeline runs as, once it has one.
    backing: str = ""
    #: The uploaded model, with its `@version`.
    model: str = ""
    tried: tuple[Trial, ...] = ()
    #: MAXIMIZE or MINIMIZE, by metric.
    goals: Mapping[str, str] = field(default_factory=dict)
    #: Seconds that the service waits for its machines: 0 forever, None if not set.
    max_wait: float | None = None
    #: Seconds that the service lets it run, None if not set.
    timeout: float | None = None
    #: A full name.
    experiment_run: str = ""
    #: The full name of the TensorBoard that takes its logs.
    tensorboard: str = ""
    max_trials: int = 0
    model_name: str = ""
    #: All buckets that it names: for packages, outputs, in arguments.
    buckets: frozenset[str] = frozenset()
    #: A full name.
    experiment: str = ""
    tuned: tuple[str, ...] = ()
    #: Of a pipeline, each before those inside of it; none as lists tell.
    tasks: tuple[PipelineTask, ...] = ()
    #: The custom jobs of a pipeline's tasks, which have its machines; None where they were not read.
    parts: tuple[VertexJob, ...] | None = None
    #: By replica, the address of its shell while it runs.
    shells: Mapping[str, str] = field(default_factory=dict)
    asks_shell: bool = False
    asks_dashboard: bool = False

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
        """The team that the job counts for; empty where its labels name none."""
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
    def of_pipeline(self) -> str:
        """The pipeline that a custom job runs a task of, by the service's own label; empty for other jobs."""
        return self.labels.get(PIPELINE_LABEL, "") if self.kind is CUSTOM_JOB else ""

    def is_on(self, cluster: PersistentResource) -> bool:
        """Tell whether the job runs on a cluster, or waits for it. Clusters of two regions may have the same id."""
        elsewhere = self.region and cluster.region and self.region != cluster.region
        return self.persistent_resource_id == cluster.id and not elsewhere

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
    def waits(self) -> bool:
        """Tell whether the job waits for its first start, or for machines again after it lost them."""
        return not self.ended and (self.start_time is None or self.state in ("JOB_STATE_QUEUED", "JOB_STATE_PENDING"))

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
        label = self.labels.get(CAPACITY_TYPE_LABEL, "")
        return of_job(self.strategy, label, reserved=any(pool.reserves for pool in self.worker_pools))

    @property
    def machines(self) -> tuple[MachineGroup, ...]:
        """The machines of all concurrent trials together."""
        return tuple(
            MachineGroup(pool.machine, pool.replicas * self.trials) for pool in self.worker_pools if pool.replicas
        )

    @property
    def timed_out(self) -> bool:
        """Tell whether the service ended the job at its time limit. Its state is that of a cancel; no document says
        which words come with it, so its times tell."""
        if self.state not in _BY_LIMIT or self.kind is not CUSTOM_JOB:
            return False
        if self.timeout is None or self.start_time is None or self.end_time is None:
            return False
        return (self.end_time - self.start_time).total_seconds() >= self.timeout - _EARLY_S

    @property
    def end_state(self) -> str:
        """Its state, where one that reached its time limit has failed."""
        return "JOB_STATE_FAILED" if self.timed_out else self.state

    @property
    def job_state(self) -> JobState:
        """The state in the vocabulary of the command, JSON and Python."""
        return JobState.TIMED_OUT if self.timed_out else JobState.of(self.state)

    @property
    def outcome(self) -> str:
        """The state in a sentence: `running`, `timed out`."""
        return "timed out" if self.timed_out else state_word(self.state)

    def owner_and_age(self, now: datetime, words: Callable[[float], str] = span) -> str:
        """Return `ada, running 3 h 12 min`; `ada, failed after 3 h 12 min`, as far as both are known. `words`: of a
        time in seconds."""
        since, until = self.start_time or self.create_time, (self.end_time or self.update_time) if self.ended else now
        after = " after" if self.ended else ""
        age = f"{after} {words((until - since).total_seconds())}" if since and until else ""
        return ", ".join(filter(None, (self.user, f"{self.outcome}{age}")))

    def needs(self, name: str) -> bool:
        """Tell whether the job runs as this account, or reads or writes in this bucket."""
        return name == self.service_account or name in self.buckets

    @property
    def run_of_experiment(self) -> str:
        """The experiment and run: `digits, run tune-7k2p3f9a`; empty for a job of no experiment."""
        experiment, run = map(last_part, (self.experiment, self.experiment_run))
        # A run's id begins with its experiment's.
        return f"{experiment}, run {run.removeprefix(f'{experiment}-')}" if run else experiment

    @property
    def packages(self) -> frozenset[str]:
        """The gs:// URIs of the code that its replicas install or unpack, again at each restart."""
        return frozenset(package for pool in self.worker_pools for package in pool.packages)

    @property
    def starts_once(self) -> bool:
        """Tell whether a request's second job would not run: its id is refused, or each replica's launcher has to take
        the claim first."""
        return bool(self.kind.id_parameter) or all(pool.launched for pool in self.worker_pools if pool.replicas)

    @property
    def needed(self) -> frozenset[str]:
        """The gs:// URIs that each of its starts reads: its packages, and what launches its images."""
        return self.packages | {pool.launcher for pool in self.worker_pools if pool.launcher}

    @property
    def reservations(self) -> frozenset[str]:
        """The full paths of the reservations that its machines come from, as far as it names them."""
        return frozenset(path for pool in self.worker_pools for path in pool.reservations)

    @property
    def replicas(self) -> int:
        return sum(pool.replicas for pool in self.worker_pools)

    @property
    def parameters(self) -> Mapping[str, Value] | None:
        """The recorded parameters; None where the job records none."""
        return parameters_in(variable for pool in self.worker_pools for variable in pool.env)

    @property
    def shape(self) -> str:
        """The name of its machines, where its template has several shapes."""
        env = (variable.partition("=") for pool in self.worker_pools for variable in pool.env)
        return next((value for name, _, value in env if name == SHAPE), "")

    @property
    def note(self) -> str:
        """The submitter's note, empty without one."""
        return note_in(variable for pool in self.worker_pools for variable in pool.env)

    @property
    def race(self) -> tuple[str, ...]:
        """The regions where its submission waits at once for machines; none where it waits in one."""
        return race_in(variable for pool in self.worker_pools for variable in pool.env)

    @property
    def own_settings(self) -> OwnSettings:
        """Return what its submission set beside its template."""
        return OwnSettings.read(variable for pool in self.worker_pools for variable in pool.env)

    @property
    def yields(self) -> bool:
        """Tell whether its launcher makes room for another job when it is asked to."""
        return any(isinstance(record_in(pool.env, YIELD), dict) for pool in self.worker_pools)

    @property
    def after(self) -> str:
        """The name of the round in which another job makes room, after which this one goes on; empty for others."""
        found = (record_in(pool.env, YIELD) for pool in self.worker_pools)
        return next((str(record["after"]) for record in found if isinstance(record, dict) and "after" in record), "")

    @property
    def chosen_name(self) -> str:
        """The name that its submitter chose, empty for none."""
        return self.labels.get(NAME_LABEL, "")

    @property
    def run(self) -> int | None:
        """The job's number in its sweep, None for a job of no sweep."""
        number = self.labels.get(RUN_LABEL, "").partition("-")[0]
        return int(number) if number.isdecimal() else None

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The custom jobs that are measured for this job: the job itself, its trials' jobs, or the one behind it."""
        names = (
            [self.name]
            if self.kind.runs_itself
            else [*(trial.job for trial in self.tried), *(task.job for task in self.tasks), self.backing]
        )
        return tuple(last_part(name) for name in names if name)

    @property
    def log_ids(self) -> tuple[str, ...]:
        """The ids in its log lines; a trial's lines have that of the tuning job, as gcloud looks for them."""
        return (self.id, *self.run_ids) if self.kind.has_trials else self.run_ids

    @classmethod
    def read(cls, body: Json, kind: JobKind = CUSTOM_JOB) -> VertexJob:
        (spec, trials), text = kind.living(body), json.dumps(body)
        scheduling = spec.get("scheduling", {})
        max_wait, timeout = scheduling.get("maxWaitDuration"), scheduling.get("timeout")
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
            error=displayable(body.get("error", {}).get("message")),
            kind=kind,
            trials=trials,
            backing=kind.backing(body),
            model=_model(body),
            tried=tuple(Trial.read(trial) for trial in body.get("trials", ())),
            goals={
                metric["metricId"]: metric.get("goal", "") for metric in body.get("studySpec", {}).get("metrics", ())
            },
            max_wait=None if max_wait is None else float(max_wait.removesuffix("s")),
            timeout=float(str(timeout).removesuffix("s")) if timeout else None,
            experiment=str(spec.get("experiment", "")),
            experiment_run=str(spec.get("experimentRun", "")),
            tensorboard=str(spec.get("tensorboard", "")),
            max_trials=int(body.get("maxTrialCount") or 0),
            model_name=str(body.get("modelToUpload", {}).get("displayName", "")),
            buckets=frozenset(name for pattern in _BUCKETS for name in pattern.findall(text)),
            tuned=tuple(searched(body.get("studySpec", {}).get("parameters", ()))),
            tasks=tasks_of(body),
            shells=dict(body.get("webAccessUris", {})),
            asks_shell=bool(spec.get("enableWebAccess")),
            asks_dashboard=bool(spec.get("enableDashboardAccess")),
        )


def state_word(state: str) -> str:
    """Return `JOB_STATE_RUNNING` as `running`."""
    return state.removeprefix("JOB_STATE_").lower().replace("_", " ")


def distinct(jobs: Iterable[VertexJob]) -> tuple[VertexJob, ...]:
    """Leave out the jobs by which others run: the custom job behind a pipeline, those of a tuning job's trials, and
    those of a Kubeflow pipeline's tasks."""
    by_name = {job.name: job for job in jobs}
    pipelines = {job.labels.get(PIPELINE_LABEL) for job in by_name.values() if job.kind is PIPELINE_JOB}
    behind = {job.backing for job in by_name.values()}
    behind |= {trial.job for job in by_name.values() for trial in job.tried if trial.job}
    behind |= {name for name, job in by_name.items() if job.of_pipeline and job.of_pipeline in pipelines}
    return tuple(job for name, job in by_name.items() if name not in behind)


def last_ends(jobs: Iterable[VertexJob]) -> Mapping[str, datetime]:
    """Return the end of the last job on each cluster, by the cluster's id."""
    ends: dict[str, datetime] = {}
    for job in jobs:
        cluster = job.persistent_resource_id
        if job.end_time and cluster:
            ends[cluster] = max(job.end_time, ends.get(cluster, job.end_time))
    return ends


def _model(body: Json) -> str:
    uploaded = body.get("modelToUpload", {})
    name, version = uploaded.get("name", ""), uploaded.get("versionId", "")
    return f"{name}@{version}" if name and version and "@" not in name else str(name)
