"""The methods of training pipelines."""

from collections.abc import Mapping
from typing import Any

from ...wire import Call, Reply, Route
from ...world import World
from ..clusters.work import apply_due
from ..field_errors import refuse
from ..messages import MESSAGES
from ..models import records as models
from ..names import location_name
from ..resources import FollowedResources
from ..scheduling import submission
from ..tuning import hyperparameter_tuning_jobs
from ..tuning.records import child_name
from . import records, rules
from . import work as following
from .records import KIND, PIPELINES, SUFFIXES, Pipeline
from .rules import Task

_FIRST_ID = 6_000_000_000_000_000_000
_INPUTS = "training_task_inputs"
_OUTPUT_ONLY = ("name", "trainingTaskMetadata", "state", "error", "createTime", "startTime", "endTime", "updateTime")


class TrainingPipelines(FollowedResources[Pipeline]):
    def __init__(self, world: World) -> None:
        super().__init__(world, KIND, PIPELINES)

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
        task = rules.TASKS[body["trainingTaskDefinition"]]
        job = _job(body, task, version, location)
        spec = job["jobSpec"] if task == "custom" else job["trialJobSpec"]
        refuse(rules.output_mistakes(body, spec))
        apply_due(self.world)
        with self.world.store.transaction():
            if body.get("parentModel"):
                models.registered(self.world, location, body["parentModel"])
            name, state = self._submitted(call, location, task, job)
            output = spec.get("baseOutputDirectory", {}).get("outputUriPrefix", "")
            number, now = _FIRST_ID + self.world.store.next_id("trainingPipeline"), self.world.now()
            shown = {
                **body,
                "name": self.name(location_name(self.world.project, location), str(number)),
                "trainingTaskMetadata": records.metadata(task, name),
                "createTime": now,
                "updateTime": now,
                "state": state.replace("JOB_STATE", "PIPELINE_STATE"),
            }
            PIPELINES.put(self.world.store, Pipeline(body=shown, task=task, job=name, output=output))
        self.world.changed.set()
        return self.shown(call, shown)

    def cancel(self, call: Call) -> Reply:
        return self.cancelled(call, lambda pipeline: following.cancel(self.world, pipeline))

    def _submitted(self, call: Call, location: str, task: Task, job: Mapping[str, Any]) -> tuple[str, str]:
        """Submit the job behind a pipeline and return its name and state."""
        if task == "tuning":
            root = f"{_INPUTS}.trial_job_spec"
            tuning = hyperparameter_tuning_jobs.submit(self.world, call.principal, location, job, root)
            return tuning.name, tuning.state
        email = submission.admit(self.world, call.principal, location, job, _INPUTS)
        made = submission.submit(self.world, location, job, email)
        return made.body["name"], made.body["state"]


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
