"""A hyperparameter tuning job: its declaration, and its state of life."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Literal

from ..collection import Kind
from ..field_errors import DISPLAY_NAME_LENGTH
from ..resources import Followed
from . import trial as trials
from .study import Study, study_of
from .trial import Trial

KIND = Kind(
    "HyperparameterTuningJob",
    "/hyperparameterTuningJobs",
    "resource",
    "hyperparameterTuningJobs",
    trains=True,
    filtered=("displayName", "state", "createTime", "labels", "trialJobSpec.persistentResourceId"),
)
EndState = Literal["JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED", "JOB_STATE_CANCELLED"]


@dataclass(frozen=True)
class Ending:
    """The end that the job comes to once its trials have ended."""

    state: EndState
    code: int = 0
    message: str = ""


@dataclass(frozen=True)
class Tuning:
    """A tuning job. State and times are those of the job."""

    #: The canonical body as it was made.
    declared: Mapping[str, Any]
    email: str
    state: str
    update_time: str
    trials: tuple[Trial, ...] = ()
    start_time: str | None = None
    #: Why no more trials begin.
    closed: str = ""
    #: It ends so at `end_time`.
    ending: Ending | None = None
    #: The time of the last report that was taken, by `trial/replica`.
    read: Mapping[str, float] = field(default_factory=dict)
    end_time: str | None = None

    @property
    def name(self) -> str:
        return str(self.declared["name"])

    @property
    def over(self) -> bool:
        return self.end_time is not None

    @property
    def body(self) -> dict[str, Any]:
        """The canonical HyperparameterTuningJob."""
        body: dict[str, Any] = {**self.declared, "state": self.state, "updateTime": self.update_time}
        if self.trials:
            body["trials"] = [trials.body(item) for item in self.trials]
        if self.start_time:
            body["startTime"] = self.start_time
        if self.end_time is None or self.ending is None:
            return body
        body |= {"state": self.ending.state, "endTime": self.end_time}
        if self.ending.state != "JOB_STATE_SUCCEEDED":
            body["error"] = {"code": self.ending.code, "message": self.ending.message}
        return body

    @property
    def max_trials(self) -> int:
        return int(self.declared["maxTrialCount"])

    @property
    def study(self) -> Study:
        return study_of(self.declared["studySpec"])

    @property
    def open_trials(self) -> list[Trial]:
        return [trial for trial in self.trials if trial.open]

    def with_trial(self, trial: Trial) -> "Tuning":
        """Return the job with one trial, found by id, put in place of its predecessor."""
        return replace(self, trials=tuple(trial if trial.id == item.id else item for item in self.trials))

    def best(self) -> Trial | None:
        """Return the trial that succeeded with the best final value of the first metric; the earliest of several."""
        metric, best_yet = self.study.metrics[0], None
        for trial in self.trials:
            value = trial.final.value(metric.id) if trial.final and trial.state == "SUCCEEDED" else None
            if value is not None and (best_yet is None or metric.better(value, best_yet[0])):
                best_yet = (value, trial)
        return best_yet[1] if best_yet else None


TUNING_JOBS = Followed(kind="tuningJob", record=Tuning, key=attrgetter("name"))


def child_name(display_name: str, suffix: str) -> str:
    """Return the display name of a job that another one makes, never longer than the service takes."""
    return display_name[: DISPLAY_NAME_LENGTH - len(suffix)] + suffix


def trial_job(tuning: Tuning, trial: Trial, arguments: list[str]) -> dict[str, Any]:
    """Return the custom job of a trial: arguments on every worker pool, and an output directory of its own."""
    spec: Mapping[str, Any] = tuning.declared["trialJobSpec"]
    pools = []
    for pool in spec["workerPoolSpecs"]:
        key = next((key for key in ("containerSpec", "pythonPackageSpec") if key in pool), None)
        if key:
            pool = {**pool, key: {**pool[key], "args": [*pool[key].get("args", []), *arguments]}}
        pools.append(pool)
    made = {**spec, "workerPoolSpecs": pools}
    prefix = spec.get("baseOutputDirectory", {}).get("outputUriPrefix", "").rstrip("/")
    if prefix:
        made["baseOutputDirectory"] = {"outputUriPrefix": f"{prefix}/{trial.id}"}
    kept = {"encryptionSpec": tuning.declared["encryptionSpec"]} if "encryptionSpec" in tuning.declared else {}
    return {"displayName": child_name(tuning.declared["displayName"], f"-trial-{trial.id}"), "jobSpec": made, **kept}
