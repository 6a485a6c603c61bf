"""Routes of Vertex AI, and the work behind them."""

from collections.abc import Mapping

from .. import locations
from ..clock import timestamp
from ..supply import machines
from ..supply import records as scenarios
from ..wire import Route
from ..world import Loop, World
from .clusters.persistent_resources import PersistentResources
from .clusters.records import CLUSTERS
from .clusters.work import apply_due
from .follower import Follower, Loops
from .jobs import table as jobs
from .jobs.custom_jobs import CustomJobs
from .metadata.artifacts import Artifacts
from .metadata.contexts import Contexts
from .metadata.executions import Executions
from .metadata.metadata_schemas import MetadataSchemas
from .metadata.metadata_stores import MetadataStores
from .models.models import Models
from .operations import Operations
from .pipelines import unserved
from .pipelines import work as pipelines
from .pipelines.training_pipelines import TrainingPipelines
from .scheduling import availability, quota_usage, submission
from .scheduling.scheduler import Scheduler
from .tensorboard import points
from .tensorboard.experiments import Experiments
from .tensorboard.runs import Runs
from .tensorboard.tensorboards import Tensorboards
from .tensorboard.time_series import TimeSeries
from .tuning import work as tuning_work
from .tuning.hyperparameter_tuning_jobs import TuningJobs

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
    places = locations.routes(world, "v1|v1beta1|ui", "aiplatform", machines.table().all_regions)
    return [*methods, *operations.routes(), *unserved.routes(world), *places]


def loop(world: World) -> Loop:
    return Loops(world.trash, Scheduler(world), Follower(world, [tuning_work.step, pipelines.step]))


def summary(world: World) -> Mapping[str, str | int]:
    """Return the lines that `status` shows."""
    started = jobs.started(world.store)
    scenario = scenarios.current(world)
    return {
        "clusters": len(CLUSTERS.every(world.store)),
        "running jobs": len(started),
        "waiting jobs": jobs.count_waiting(world.store),
        **({"scenario": f"since {timestamp(scenario.since)}"} if scenario.document else {}),
    }
