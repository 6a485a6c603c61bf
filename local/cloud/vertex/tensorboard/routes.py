"""All methods of TensorBoard."""

from local.cloud.vertex.tensorboard import points
from local.cloud.vertex.tensorboard.experiments import Experiments
from local.cloud.vertex.tensorboard.runs import Runs
from local.cloud.vertex.tensorboard.tensorboards import Tensorboards
from local.cloud.vertex.tensorboard.time_series import TimeSeries
from local.cloud.wire import Route
from local.cloud.world import World


def routes(world: World) -> list[Route]:
    points.open_table(world.store)
    methods = (Tensorboards(world), Experiments(world), Runs(world), TimeSeries(world))
    return [route for item in methods for route in item.routes()]
