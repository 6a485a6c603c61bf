"""Holds of a sweep: pauses, before anything is sent, and the shares of teams, which a deployment may edit. # N24"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.failures import Answer, Call, failure
from slipway.google.storage import Location, StoredObject
from slipway.using.jobs.demand import Demand
from slipway.using.sweeps.hold_watch import EVERY_S, HoldWatch
from slipway.using.sweeps.runs import Run
from tests.builders.pools import CPU
from tests.slipway.using.jobs.test_team_share import SHARES, of


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
        holds = HoldWatch(context, lambda _: candidate, (), threads, lambda: None)
        assert holds.why(run, 0.0) == "not known whether anything is paused: busy"
        storage.away = False
        assert holds.why(run, 1.0), "it is asked every ten seconds"
        assert holds.why(run, EVERY_S) == ""
        storage.away = True
        assert holds.why(run, 2 * EVERY_S) == "", "what is known stands"


def test_shares_that_a_deployment_edits_hold_the_rest_of_a_sweep_and_let_it_go() -> None:
    storage: Any = Storage()
    storage.away = False
    pools = (ResourcePool("workers", CPU, 4, 2, None, None),)
    cluster = PersistentResource("projects/1/locations/r/persistentResources/cpu-1", "RUNNING", {}, pools)
    here = SimpleNamespace(
        persistent_resource=lambda _: cluster,
        active_jobs=lambda _: (of("vision", machines=2), of("language", "QUEUED")),
    )
    there = {"h100": SimpleNamespace(id="cpu-1")}
    catalog = SimpleNamespace(work_bucket="work", stack="local", clusters=there, region_of=lambda _: "r")
    hurried, vertex = SimpleNamespace(storage=storage), SimpleNamespace(at=lambda _: here)
    context: Any = SimpleNamespace(catalog=catalog, hurried=hurried, vertex_by=lambda _: vertex)
    asks, offer = of("vision"), SimpleNamespace(cluster="h100")
    candidate: Any = SimpleNamespace(offer=offer, request=SimpleNamespace(job=asks), demand=Demand.of(asks))
    shares: dict[str, dict[str, int]] = {}
    with ThreadPoolExecutor(1) as threads:
        holds = HoldWatch(context, lambda _: candidate, ("h100",), threads, lambda: shares)

        def look(number: int) -> str:
            holds.why(Run(0), number * EVERY_S)
            threads.submit(int).result()  # The look has ended.
            return holds.why(Run(0), number * EVERY_S)

        assert look(0) == ""
        shares["h100"] = SHARES
        assert look(1).startswith("team vision has 2 machines of h100, with a share of 2; this needs 1, and language-")
        shares["h100"] = {"vision": 9, "language": 1}
        assert look(2) == ""
