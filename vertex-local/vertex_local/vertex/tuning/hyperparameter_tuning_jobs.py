"""The methods of hyperparameter tuning jobs."""

from collections.abc import Mapping
from typing import Any

from ...wire import Call, Reply, Route
from ...world import World
from ..clusters.work import apply_due
from ..field_errors import refuse
from ..scheduling import submission
from ..table_collection import Entries
from ..tables import Entry
from . import rules, work
from .records import TUNING_JOBS, Tuning, entry_of

_DECLARED = (
    "displayName",
    "labels",
    "encryptionSpec",
    "studySpec",
    "maxTrialCount",
    "parallelTrialCount",
    "maxFailedTrialCount",
)


class TuningJobs(Entries):
    def __init__(self, world: World) -> None:
        super().__init__(world, TUNING_JOBS)

    def routes(self) -> list[Route]:
        return [*super().routes(), Route("POST", self.kind.each + ":cancel", self.cancel)]

    def create(self, call: Call) -> Reply:
        location = self.enter(call, "create", "submit")
        declared = checked(self.sent(call), location)
        apply_due(self.world)
        with self.world.store.transaction():
            entry = submit(self.world, call.principal, location, declared)
        self.world.changed.set()
        return self.shown(call, entry.body)

    def cancel(self, call: Call) -> Reply:
        return self.cancelled(call, lambda entry: work.cancel(self.world, entry))


def checked(body: Mapping[str, Any], location: str, root: str = "") -> dict[str, Any]:
    """Return a create's canonical body with its defaults. Raises 400, and 501 for a job that this cloud can't run.

    `root` goes before the paths that errors name.
    """
    refuse(rules.mistakes(body, root))
    missing = rules.not_here(body["studySpec"])
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
    number, name = TUNING_JOBS.new_name(world.store, world.project, location)
    made = Tuning(number, {**declared, "name": name, "createTime": world.now()}, email, "JOB_STATE_QUEUED")
    entry = entry_of(made, world.now())
    TUNING_JOBS.put(world.store, entry, declared["trialJobSpec"].get("persistentResourceId"))
    return entry


def _job(body: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the custom job that each trial asks for."""
    kept = {key: body[key] for key in ("displayName", "encryptionSpec") if key in body}
    return {**kept, "jobSpec": spec}
