"""The methods of hyperparameter tuning jobs."""

from collections.abc import Mapping
from typing import Any

from local.cloud.services import World
from local.cloud.studies import study_rules, tuner
from local.cloud.studies.tuning import TUNING_JOBS, Tuning, entry_of
from local.cloud.vertex import submission
from local.cloud.vertex.messages import MESSAGES
from local.cloud.vertex.mistakes import refuse
from local.cloud.vertex.resource_methods import ResourceMethods
from local.cloud.vertex.resource_table import Entry
from local.cloud.vertex.settling import settle
from local.cloud.wire import Call, Reply, Route, failed_precondition

_DECLARED = (
    "displayName",
    "labels",
    "encryptionSpec",
    "studySpec",
    "maxTrialCount",
    "parallelTrialCount",
    "maxFailedTrialCount",
)


class TuningJobs(ResourceMethods):
    def __init__(self, world: World) -> None:
        super().__init__(world, TUNING_JOBS)
        TUNING_JOBS.open_table(world.store)

    def routes(self) -> list[Route]:
        own = [Route("POST", self.base, self.create), Route("POST", self.one + ":cancel", self.cancel)]
        return [*super().routes(), *own]

    def create(self, call: Call) -> Reply:
        location = self.enter(call, "create", "submit")
        body = MESSAGES.parse(call.params["version"], TUNING_JOBS.kind, call.object())
        declared = checked(body, location)
        settle(self.world)
        with self.world.store.transaction():
            entry = submit(self.world, call.principal, location, declared)
        self.world.changed.set()
        return self.answer(call, entry)

    def cancel(self, call: Call) -> Reply:
        location = self.enter(call, "cancel", "call")
        with self.world.store.transaction():
            entry = self.find(call, location)
            if entry.work is None:
                raise failed_precondition(
                    f"The {TUNING_JOBS.kind} {entry.name} is in state {entry.body['state']} and cannot be cancelled."
                )
            tuner.cancel(self.world, entry)
        self.world.changed.set()
        return Reply(body={})


def checked(body: Mapping[str, Any], location: str, root: str = "") -> dict[str, Any]:
    """A create's canonical body with its defaults. Raises 400, and 501 for what this cloud can't run.

    `root` goes before the paths that errors name.
    """
    refuse(study_rules.mistakes(body, root))
    missing = study_rules.not_here(body["studySpec"])
    if missing:
        raise missing
    job = submission.checked(_job(body, body.get("trialJobSpec", {})), location, f"{root}trial_job_spec")
    kept = {key: body[key] for key in _DECLARED if key in body}
    return {**kept, "trialJobSpec": job["jobSpec"]}


def submit(
    world: World, principal: str, location: str, declared: Mapping[str, Any], root: str = "trial_job_spec"
) -> Entry:
    """Write a new tuning job, whose trials then begin by themselves. Within a transaction.

    Raises 400, 403, 404, 429.
    """
    email = submission.admit(world, principal, location, _job(declared, declared["trialJobSpec"]), root)
    number, name = TUNING_JOBS.new_name(world.store, location)
    made = Tuning(number, {**declared, "name": name, "createTime": world.now()}, email, "JOB_STATE_QUEUED")
    entry = entry_of(made, world.now())
    TUNING_JOBS.put(world.store, entry, declared["trialJobSpec"].get("persistentResourceId"))
    return entry


def _job(body: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """What each trial's custom job asks for."""
    kept = {key: body[key] for key in ("displayName", "encryptionSpec") if key in body}
    return {**kept, "jobSpec": spec}
