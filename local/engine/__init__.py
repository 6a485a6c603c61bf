"""The Pulumi engine on a laptop: found, downloaded or built, and cached outside the checkout."""

from local.engine.engine import Engine, Source, ensure
from local.engine.errors import EngineError

__all__ = ["Engine", "EngineError", "Source", "ensure"]
