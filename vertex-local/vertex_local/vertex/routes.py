"""Routes of Vertex AI, and the work behind them."""

import threading
from collections.abc import Mapping, Sequence

from .. import locations
from ..clock import timestamp
from ..supply import machines
from ..supply import records as scenarios
from ..wire import Route
from ..world import Loop, World
from .clusters.persistent_resources import PersistentResources
from .clusters.records import CLUSTERS
from .clusters.work import apply_due
from .follower import Follower
from .jobs import table as jobs
from .jobs.custom_jobs import CustomJobs
from .metadata.artifacts import Artifacts
from .metadata.contexts import Contexts
from .metadata.executions import Executions
from .metadata.metadata_stores import MetadataStores
from .models.models import Models
from .operations import Operations
from .pipeline_jobs import work as pipeline_jobs
from .pipeline_jobs.pipeline_jobs import PipelineJobs
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


def routes(world: World) -> list[Route]:
    jobs.open_table(world.store)
    points.open_table(world.store)
    world.quota_in_use = lambda region: quota_usage.in_use(world, region)
    collections = [
        PersistentResources(world, availability.suffices),
        CustomJobs(world, submission.create),
        TuningJobs(world),
        TrainingPipelines(world),
        PipelineJobs(world),
        Models(world),
        Tensorboards(world),
        Experiments(world),
        Runs(world),
        TimeSeries(world),
        MetadataStores(world),
        Contexts(world),
        Executions(world),
        Artifacts(world),
    ]
    methods = [route for collection in collections for route in collection.routes()]
    operations = Operations(world, lambda: apply_due(world))
    # Secret Manager has the same paths on `v1`, which this answers as well.
    base, regions = "/{version:v1|v1beta1}/projects/{project}", machines.table().all_regions
    return [*methods, *operations.routes(), *locations.routes(world, base, "aiplatform", regions)]


def loops(world: World) -> Sequence[Loop]:
    # Jobs that are made of custom jobs are looked at apart from the scheduler, which that would hold up.
    follower = Follower(
        world,
        {
            "tuning jobs": lambda: tuning_work.step(world),
            "pipelines": lambda: pipelines.step(world),
            "pipeline jobs": lambda: pipeline_jobs.step(world),
        },
        threading.Event(),
    )
    scheduler = Follower(world, {"the scheduler": Scheduler(world).step}, world.changed)
    return follower, scheduler, world.trash


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
