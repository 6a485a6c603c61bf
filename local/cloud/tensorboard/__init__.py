"""Vertex AI TensorBoard: tensorboards, their experiments, runs and time series, and the data in these."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from local.cloud.services import World
    from local.cloud.wire import Route

API = "aiplatform.googleapis.com"


def routes(world: "World") -> "list[Route]":
    from local.cloud.tensorboard import points
    from local.cloud.tensorboard.children import Children, experiments, runs, time_series
    from local.cloud.tensorboard.data import Data
    from local.cloud.tensorboard.tensorboards import Tensorboards

    points.open_table(world.store)
    found = Tensorboards(world).routes()
    for child in (experiments(world), runs(world), time_series(world)):
        found += Children.routes(child)
    return [*found, *Data(world).routes()]
