"""What the server takes of Vertex AI, and the work behind it."""

from collections.abc import Mapping

from local.cloud.clock import timestamp
from local.cloud.supply import records as scenarios
from local.cloud.vertex.clusters import records as clusters
from local.cloud.vertex.clusters.persistent_resources import PersistentResources
from local.cloud.vertex.clusters.work import apply_due
from local.cloud.vertex.follower import Follower, Loops
from local.cloud.vertex.jobs import table as jobs
from local.cloud.vertex.jobs.custom_jobs import CustomJobs
from local.cloud.vertex.metadata import routes as metadata
from local.cloud.vertex.models.models import Models
from local.cloud.vertex.operations import Operations
from local.cloud.vertex.pipelines import unserved
from local.cloud.vertex.pipelines import work as pipelines
from local.cloud.vertex.pipelines.training_pipelines import TrainingPipelines
from local.cloud.vertex.scheduling.scheduler import Scheduler
from local.cloud.vertex.tensorboard import routes as tensorboard
from local.cloud.vertex.tuning import work as tuning_work
from local.cloud.vertex.tuning.hyperparameter_tuning_jobs import TuningJobs
from local.cloud.wire import Route
from local.cloud.world import Loop, World

API = "aiplatform.googleapis.com"


def routes(world: World) -> list[Route]:
    jobs.open_table(world.store)
    operations = Operations(world, lambda: apply_due(world))
    return [
        *PersistentResources(world).routes(),
        *CustomJobs(world).routes(),
        *TuningJobs(world).routes(),
        *TrainingPipelines(world).routes(),
        *Models(world).routes(),
        *operations.routes(),
        *unserved.routes(world),
        *tensorboard.routes(world),
        *metadata.routes(world),
    ]


def loop(world: World) -> Loop:
    return Loops(Scheduler(world), Follower(world, [tuning_work.step, pipelines.step]))


def summary(world: World) -> Mapping[str, str | int]:
    """What `status` shows."""
    started = jobs.started(world.store)
    scenario = scenarios.current(world)
    return {
        "clusters": len(clusters.every(world.store)),
        "running jobs": len(started),
        "waiting jobs": jobs.count_waiting(world.store),
        **({"scenario": f"since {timestamp(scenario.since)}"} if scenario.document else {}),
    }
