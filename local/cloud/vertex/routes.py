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
from local.cloud.vertex.metadata.artifacts import Artifacts
from local.cloud.vertex.metadata.contexts import Contexts
from local.cloud.vertex.metadata.executions import Executions
from local.cloud.vertex.metadata.metadata_schemas import MetadataSchemas
from local.cloud.vertex.metadata.metadata_stores import MetadataStores
from local.cloud.vertex.models.models import Models
from local.cloud.vertex.operations import Operations
from local.cloud.vertex.pipelines import unserved
from local.cloud.vertex.pipelines import work as pipelines
from local.cloud.vertex.pipelines.training_pipelines import TrainingPipelines
from local.cloud.vertex.scheduling import availability, quota_usage, submission
from local.cloud.vertex.scheduling.scheduler import Scheduler
from local.cloud.vertex.tensorboard import points
from local.cloud.vertex.tensorboard.experiments import Experiments
from local.cloud.vertex.tensorboard.runs import Runs
from local.cloud.vertex.tensorboard.tensorboards import Tensorboards
from local.cloud.vertex.tensorboard.time_series import TimeSeries
from local.cloud.vertex.tuning import work as tuning_work
from local.cloud.vertex.tuning.hyperparameter_tuning_jobs import TuningJobs
from local.cloud.wire import Route
from local.cloud.world import Loop, World

API = "aiplatform.googleapis.com"


_COLLECTIONS = (
    TuningJobs,
    TrainingPipelines,
    Models,
    Tensorboards,
    Experiments,
    Runs,
    TimeSeries,
    MetadataStores,
    MetadataSchemas,
    Contexts,
    Executions,
    Artifacts,
)


def routes(world: World) -> list[Route]:
    jobs.open_table(world.store)
    points.open_table(world.store)
    world.quota_in_use = lambda region: quota_usage.in_use(world, region)
    collections = [
        PersistentResources(world, availability.suffices),
        CustomJobs(world, submission.create),
        *(collection(world) for collection in _COLLECTIONS),
    ]
    methods = [route for collection in collections for route in collection.routes()]
    operations = Operations(world, lambda: apply_due(world))
    return [*methods, *operations.routes(), *unserved.routes(world)]


def loop(world: World) -> Loop:
    return Loops(world.trash, Scheduler(world), Follower(world, [tuning_work.step, pipelines.step]))


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
