"""Holds of a sweep whose service does not answer: nothing is sent before it is known that nothing is paused. # N24"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

from slipway.google.failures import Answer, Call, failure
from slipway.google.storage import Location, StoredObject
from slipway.using.sweeps.hold_watch import EVERY_S, HoldWatch
from slipway.using.sweeps.runs import Run


class Storage:
    """The work bucket without a pause, which can't be listed while it is `away`."""

    away = True

    def objects(self, under: Location) -> Iterator[StoredObject]:
        if self.away:
            raise failure(Call("list pauses"), Answer(503, "UNAVAILABLE", "busy"))
        return iter(())


def test_no_run_is_sent_before_the_first_look_that_tells() -> None:
    storage: Any = Storage()
    catalog = SimpleNamespace(shares=None, work_bucket="work", stack="local")
    context: Any = SimpleNamespace(catalog=catalog, hurried=SimpleNamespace(storage=storage))
    candidate: Any = SimpleNamespace(offer=SimpleNamespace(cluster=""))
    run = Run(0)
    with ThreadPoolExecutor(1) as threads:
        holds = HoldWatch(context, lambda _: candidate, (), threads)
        assert holds.why(run, 0.0) == "not known whether anything is paused: busy"
        storage.away = False
        assert holds.why(run, 1.0), "it is asked every ten seconds"
        assert holds.why(run, EVERY_S) == ""
        storage.away = True
        assert holds.why(run, 2 * EVERY_S) == "", "what is known stands"
