"""The methods of hyperparameter tuning jobs."""

from collections.abc import Mapping
from typing import Any

from ...wire import Call, Reply, Route
from ...world import World
from ..clusters.work import apply_due
from ..field_errors import refuse
from ..names import location_name
from ..resources import FollowedResources
from ..scheduling import submission
from . import rules, work
from .records import KIND, TUNING_JOBS, Tuning

_FIRST_ID = 5_000_000_000_000_000_000
_DECLARED = (
    "displayName",
    "labels",
    "encryptionSpec",
    "studySpec",
    "maxTrialCount",
    "parallelTrialCount",
    "maxFailedTrialCount",
)


class TuningJobs(FollowedResources[Tuning]):
    def __init__(self, world: World) -> None:
        super().__init__(world, KIND, TUNING_JOBS)

    def routes(self) -> list[Route]:
        return [*super().routes(), Route("POST", self.kind.each + ":cancel", self.cancel)]

    def create(self, call: Call) -> Reply:
        location = self.enter(call, "create", "submit")
        declared = checked(self.sent(call), location)
        apply_due(self.world)
        with self.world.store.transaction():
            made = submit(self.world, call.principal, location, declared)
        self.world.changed.set()
        return self.shown(call, made.body)

    def cancel(self, call: Call) -> Reply:
        return self.cancelled(call, lambda job: work.cancel(self.world, job))


def checked(body: Mapping[str, Any], location: str, root: str = "") -> dict[str, Any]:
    """Return a create's canonical body with its defaults. Raises 400, and 501 for a job that this cloud can't run.
    `root` goes before the paths that errors name."""
    refuse(rules.mistakes(body, root))
    missing = rules.not_here(body["studySpec"])
    if missing:
        raise missing
    job = submission.checked(_job(body, body.get("trialJobSpec", {})), location, f"{root}trial_job_spec")
    kept = {key: body[key] for key in _DECLARED if key in body}
    return {**kept, "trialJobSpec": job["jobSpec"]}


def submit(
    world: World, principal: str, location: str, declared: Mapping[str, Any], root: str = "trial_job_spec"
) -> Tuning:
    """Write a new tuning job, whose trials then begin by themselves. Within a transaction. Raises 400, 403, 404,
    429."""
    email = submission.admit(world, principal, location, _job(declared, declared["trialJobSpec"]), root)
    number, now = _FIRST_ID + world.store.next_id("tuningJob"), world.now()
    name = f"{location_name(world.project, location)}{KIND.path}/{number}"
    made = Tuning({**declared, "name": name, "createTime": now}, email, "JOB_STATE_QUEUED", update_time=now)
    TUNING_JOBS.put(world.store, made)
    return made


def _job(body: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the custom job that each trial asks for."""
    kept = {key: body[key] for key in ("displayName", "encryptionSpec") if key in body}
    return {**kept, "jobSpec": spec}
