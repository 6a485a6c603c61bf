"""The methods of Vertex AI that the local cloud serves, and the work behind them."""

from collections.abc import Mapping

from local.cloud.capacity import kept
from local.cloud.clock import timestamp
from local.cloud.models.models import Models
from local.cloud.pipelines import following as pipelines
from local.cloud.pipelines.training_pipelines import TrainingPipelines
from local.cloud.services import Loop, World
from local.cloud.studies import tuner
from local.cloud.studies.tuning_jobs import TuningJobs
from local.cloud.vertex import clusters, jobs, not_yet
from local.cloud.vertex.custom_jobs import CustomJobs
from local.cloud.vertex.following import Follower, Loops
from local.cloud.vertex.operations import Operations
from local.cloud.vertex.persistent_resources import PersistentResources
from local.cloud.vertex.scheduler import Scheduler
from local.cloud.vertex.settling import settle
from local.cloud.wire import Route


def routes(world: World) -> list[Route]:
    jobs.open_table(world.store)
    operations = Operations(world, lambda: settle(world))
    return [
        *PersistentResources(world).routes(),
        *CustomJobs(world).routes(),
        *TuningJobs(world).routes(),
        *TrainingPipelines(world).routes(),
        *Models(world).routes(),
        *operations.routes(),
        *not_yet.routes(world),
    ]


def loop(world: World) -> Loop:
    return Loops(Scheduler(world), Follower(world, [tuner.step, pipelines.step]))


def summary(world: World) -> Mapping[str, str | int]:
    """What `status` shows."""
    started = jobs.started(world.store)
    scenario = kept.current(world)
    return {
        "clusters": len(clusters.every(world.store)),
        "running jobs": len(started),
        "waiting jobs": jobs.count_waiting(world.store),
        **({"scenario": f"since {timestamp(scenario.since)}"} if scenario.document else {}),
    }
