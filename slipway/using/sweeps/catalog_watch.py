"""The catalog during a sweep: it may send for hours, and a deployment may replace its clusters meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future

from slipway.base.errors import ResourceError, SlipwayError
from slipway.google.failures import CloudError
from slipway.model.catalog.model import Catalog

EVERY_S = 60.0
AGAIN_S = 10.0
PATIENCE_S = 120.0
"""Seconds for which a sweep may rely on its reading: a deployment deletes a replaced cluster no sooner."""


class CatalogWatch:
    """A reader of the catalog beside the sending, at most once a minute. Times are those of the monotonic clock."""

    def __init__(
        self, read: Callable[[], Catalog], clusters: Mapping[str, str], threads: Executor, began: float
    ) -> None:
        """Begin at the time `began`. `clusters`: the ids by name of those that runs are sent to."""
        self._read, self._clusters, self._threads = read, clusters, threads
        self._reading: Future[Catalog] | None = None
        #: As read last; None while that is the one that the sweep began with.
        self.catalog: Catalog | None = None
        self._asked_at = self._known_at = began
        self._ask_at = began + EVERY_S

    def problem(self, now: float) -> SlipwayError | None:
        """Return the reason why no more runs may be sent by the catalog that the sweep began with; None while that is
        right, or was a moment ago. Waits for an answer only when the last one is too old."""
        if not self._clusters:
            return None
        if self._reading is None and now >= self._ask_at:
            self._asked_at, self._reading = now, self._threads.submit(self._read)
        late = now - self._known_at >= PATIENCE_S
        if self._reading is None or not (late or self._reading.done()):
            return None
        reading, self._reading = self._reading, None
        try:
            catalog = self.catalog = reading.result()
        except CloudError as problem:
            self._ask_at = now + AGAIN_S
            return _unread(problem.message, problem) if late else None
        except SlipwayError as problem:  # The catalog is gone, or this version can't read it.
            return _unread(problem.what, problem)
        self._known_at, self._ask_at = self._asked_at, self._asked_at + EVERY_S
        for name, id_ in self._clusters.items():
            there = catalog.clusters.get(name)
            if there is None or there.id != id_:
                has = there.id if there else "none of that name"
                return ResourceError(
                    f"cluster {name} {'was replaced' if there else 'left the catalog'} while the sweep was being sent",
                    why=f"the runs so far went to {id_}; the catalog has {has} now",
                    fix="the same command or call sends the rest by that catalog",
                )
        return None


def _unread(why: str, problem: SlipwayError) -> ResourceError:
    again = "the same command or call sends the rest, once it can be read"
    return ResourceError(
        "the catalog can't be read any more while the sweep is being sent",
        why=why,
        fix="\n".join(filter(None, (problem.fix, again))),
    )
