"""The stage on which scenarios are played."""

from tests.local.cloud.vertex.scheduling.conftest import stage

__all__ = ["stage"]
