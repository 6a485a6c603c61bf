"""The stage on which scenarios are played."""

from tests.vertex.scheduling.conftest import stage

__all__ = ["stage"]
