"""Reading the catalog from its bucket."""

from __future__ import annotations

from slipway.catalog.model import Catalog
from slipway.catalog.reading import read
from slipway.cloud.failures import NotFound
from slipway.cloud.storage import Location, Storage
from slipway.errors import ConfigError


def fetch(storage: Storage, location: Location, origin: str = "") -> Catalog:
    """The catalog at ``location``. Raises ConfigError when it is missing or unreadable, CloudError otherwise."""
    try:
        content = storage.read(location, doing=f"read the catalog {location}")
    except NotFound as problem:
        raise ConfigError(
            f"no catalog at {location}",
            why=f"{problem.message}{f' (chosen by {origin})' if origin else ''}",
            fix="deploy the stack (pulumi up), or choose another catalog: slipway use gs://BUCKET",
        ) from problem
    return read(content, str(location))
