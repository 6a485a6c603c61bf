"""The time for which a cluster must be out of the catalog before it may be deleted.

A job that somebody sent by the catalog may be accepted, not placed yet and in no list yet: nothing shows it. So time
has to pass between the moment from which nobody is sent to a cluster and the last question whether it is idle.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from slipway.catalog.document import PublishedCatalog
from slipway.errors import ConfigError
from slipway.formatting import seconds
from slipway.live import Unknown

VARIABLE = "SLIPWAY_GRACE"
USUAL_S = 120.0


class GracePeriod:
    """Times in seconds. `clock` may start anywhere, and never goes back."""

    def __init__(self, wanted: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._wanted, self._clock = wanted, clock
        self._asked: float | None = None
        self._published: PublishedCatalog | None = None
        self._published_at = 0.0
        self._keeps: frozenset[str] = frozenset()
        self._withdrawn: dict[str, float] = {}

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> GracePeriod:
        """Read it from the environment. Raises ConfigError for an invalid duration."""
        text = environ.get(VARIABLE, "").strip()
        if not text:
            return cls(USUAL_S)
        if text in ("0", "0s"):
            return cls(0.0)
        try:
            return cls(seconds(text))
        except ConfigError as error:
            raise ConfigError(
                f"{VARIABLE}: {error.what}",
                why="it is how long a cluster must be out of the catalog before it is deleted",
                fix=f"export {VARIABLE}=2m (0 waits for nothing), or unset it",
            ) from error

    def began_with(self, catalog: PublishedCatalog | Unknown | None, *keeps: str) -> None:
        """Note what was published when this deployment began: what it left out has been left out for as long. `keeps`:
        the bucket where this deployment publishes, and its accounts."""
        self._keeps = frozenset(keeps)
        if isinstance(catalog, PublishedCatalog) and catalog.age is not None and not catalog.damage:
            self._published, self._published_at = catalog, self._clock() - catalog.age.total_seconds()

    def replaced(self, name: str) -> bool:
        """Tell whether this deployment has another bucket to publish in, or another account, than this one."""
        return bool(self._keeps) and name not in self._keeps

    def withdraw(self, names: Iterable[str]) -> None:
        """From now on nobody is sent to these clusters; the catalog that is published may offer others still."""
        now = self._clock()
        self._withdrawn |= {name: now for name in names if name not in self._withdrawn}

    def offer_again(self, names: Iterable[str]) -> None:
        """Takes back that they were withdrawn."""
        for name in names:
            self._withdrawn.pop(name, None)

    def left(self, name: str) -> float:
        """Seconds to wait for a cluster, an account or a bucket yet, 0 when its time is over.

        What was withdrawn by itself counts from then. All else counts from the first question about any of it in this
        deployment. That comes after the new catalog was published; in a destruction after the catalog was deleted,
        which goes first of all.
        """
        now = self._clock()
        since = self._withdrawn.get(name)
        if since is None:
            since = self._asked = now if self._asked is None else self._asked
        if self._published is not None and not self._published.offers(name):
            since = min(since, self._published_at)
        return max(0.0, since + self._wanted - now)
