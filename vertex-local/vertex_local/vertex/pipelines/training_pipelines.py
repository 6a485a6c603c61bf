"""The methods of training pipelines."""

from collections.abc import Mapping
from typing import Any

from ...wire import Call, Reply, Route, not_found
from ...world import World
from ..clusters.work import apply_due
from ..field_errors import refuse
from ..messages import MESSAGES
from ..models.records import MODELS
from ..names import id_of
from ..scheduling import submission
from ..table_collection import Entries
from ..tables import Entry
from ..tuning import hyperparameter_tuning_jobs
from ..tuning.records import child_name
from . import records, rules
from . import work as following
from .records import PIPELINES, SUFFIXES
from .rules import Task

_INPUTS = "training_task_inputs"
_OUTPUT_ONLY = (
    "name",
    "trainingTaskMetadata",
    "state",
    "error",
    "createTime",
    "startTime",
    "endTime",
    "updateTime",
)


class TrainingPipelines(Entries):
    def __init__(self, world: World) -> None:
        super().__init__(world, PIPELINES)

    def routes(self) -> list[Route]:
        return [*super().routes(), Route("POST", self.kind.each + ":cancel", self.cancel)]

    def create(self, call: Call) -> Reply:
        """Make the pipeline and, with it, the job behind it."""
        location, version = self.enter(call, "create", "submit"), call.params["version"]
        body = {key: value for key, value in self.sent(call).items() if key not in _OUTPUT_ONLY}
        refuse(rules.mistakes(body, location))
        missing = rules.not_here(body)
        if missing:
            raise missing
        task = rules.task_of(body)
        job = _job(body, task, version, location)
        spec = job["jobSpec"] if task == "custom" else job["trialJobSpec"]
        refuse(rules.output_mistakes(body, spec))
        apply_due(self.world)
        with self.world.store.transaction():
            self._check_parent(location, body.get("parentModel", ""))
            name, state = self._submitted(call, location, task, job)
            work = {"task": task, "job": name, "output": spec.get("baseOutputDirectory", {}).get("outputUriPrefix", "")}
            entry = self._made(location, body, work, state.replace("JOB_STATE", "PIPELINE_STATE"))
        self.world.changed.set()
        return self.shown(call, entry.body)

    def cancel(self, call: Call) -> Reply:
        return self.cancelled(call, lambda entry: following.cancel(self.world, entry))

    def _submitted(self, call: Call, location: str, task: Task, job: Mapping[str, Any]) -> tuple[str, str]:
        """Submit the job behind a pipeline and return its name and state."""
        if task == "tuning":
            root = f"{_INPUTS}.trial_job_spec"
            entry = hyperparameter_tuning_jobs.submit(self.world, call.principal, location, job, root)
            return entry.name, entry.body["state"]
        email = submission.admit(self.world, call.principal, location, job, _INPUTS)
        made = submission.submit(self.world, location, job, email)
        return made.body["name"], made.body["state"]

    def _made(self, location: str, body: Mapping[str, Any], work: Mapping[str, Any], state: str) -> Entry:
        number, name = PIPELINES.new_name(self.world.store, self.world.project, location)
        now = self.world.now()
        shown = {
            **body,
            "name": name,
            "state": state,
            "trainingTaskMetadata": records.metadata(work["task"], work["job"]),
            "createTime": now,
            "updateTime": now,
        }
        entry = Entry(number, shown, work)
        PIPELINES.put(self.world.store, entry)
        return entry

    def _check_parent(self, location: str, parent: str) -> None:
        if parent:
            name = MODELS.full_name(self.world.project, location, id_of(parent).partition("@")[0])
            if MODELS.get(self.world.store, name) is None:
                raise not_found(f"The Model {name} does not exist.")


def _job(body: Mapping[str, Any], task: Task, version: str, location: str) -> dict[str, Any]:
    """Return the body of the job behind a pipeline, from inputs in camelCase or snake_case. Raises 400, 501."""
    named: dict[str, Any] = {"displayName": child_name(body["displayName"], SUFFIXES[task])}
    if "encryptionSpec" in body:
        named["encryptionSpec"] = body["encryptionSpec"]
    if task == "custom":
        spec = MESSAGES.parse(version, "CustomJobSpec", body["trainingTaskInputs"])
        return submission.checked({**named, "jobSpec": spec}, location, _INPUTS)
    inputs = MESSAGES.parse(version, "HyperparameterTuningJob", body["trainingTaskInputs"])
    return hyperparameter_tuning_jobs.checked({**inputs, **named}, location, f"{_INPUTS}.")
