"""The methods of artifacts."""

from ...world import World
from .kinds import ARTIFACT
from .nodes import Nodes


class Artifacts(Nodes):
    def __init__(self, world: World) -> None:
        super().__init__(world, ARTIFACT)
