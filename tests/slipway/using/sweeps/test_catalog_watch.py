"""A sweep of hours looks whether the clusters that it sends to are still current, and when it does not know, stops."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace

from slipway.base.errors import ConfigError, ResourceError
from slipway.google.failures import NoAnswer
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.using.sweeps.catalog_watch import CatalogWatch
from tests.slipway.using.submission.service import CALL

from .test_sweep_sender import AtOnce

DEPLOYED = Catalog("local", "p", "us-central1", "", False, "w", "t", {"cpu": Cluster("cpu", (), id="cpu-1")}, (), {})
ROLLED_OVER = replace(DEPLOYED, clusters={"cpu": Cluster("cpu", (), id="cpu-2")})
GONE = replace(DEPLOYED, clusters={})
LOST = NoAnswer(CALL, "lost")


class Bucket:
    """Answers with one after the other, the last for ever."""

    def __init__(self, *answers: Catalog | Exception) -> None:
        self._answers, self.asked = list(answers), 0

    def read(self) -> Catalog:
        self.asked += 1
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def watch(bucket: Bucket, clusters: tuple[str, ...] = ("cpu",), threads: Executor | None = None) -> CatalogWatch:
    return CatalogWatch(bucket.read, dict.fromkeys(clusters, "cpu-1"), threads or AtOnce(), 0.0)


def test_it_is_read_once_a_minute_and_only_where_runs_go_to_a_cluster() -> None:
    bucket, beside = Bucket(DEPLOYED), Bucket(DEPLOYED)
    one, other = watch(bucket), watch(beside, ())
    for second in range(0, 301, 5):
        assert one.problem(float(second)) is None and other.problem(float(second)) is None
    assert (bucket.asked, beside.asked) == (5, 0), "and not in the first minute: a short sweep reads nothing more"


def test_a_cluster_that_was_replaced_is_told_with_its_successor() -> None:  # N2
    for answer, said, then in (
        (ROLLED_OVER, "cluster cpu was replaced while the sweep was being sent", "cpu-2"),
        (GONE, "cluster cpu left the catalog while the sweep was being sent", "none of that name"),
    ):
        found = watch(Bucket(answer)).problem(60.0)
        assert found is not None and found.exit_code == 4 and found.what == said and then in found.why


def test_without_an_answer_it_goes_on_for_a_while_and_then_stops() -> None:  # N2
    bucket = Bucket(LOST, LOST, DEPLOYED, LOST)
    one = watch(bucket)
    assert [one.problem(at) for at in (60.0, 65.0, 70.0, 80.0, 100.0)] == [None] * 5 and bucket.asked == 3
    told = {at: one.problem(float(at)) for at in range(140, 240, 10)}
    assert [at for at, problem in told.items() if problem] == [200, 210, 220, 230], "two minutes after the last answer"
    assert isinstance(told[200], ResourceError) and told[200].why == "lost"


def test_a_catalog_that_is_taken_away_stops_it_at_once() -> None:
    found = watch(Bucket(ConfigError("no catalog at gs://c/catalog.json", fix="pulumi up"))).problem(60.0)
    assert isinstance(found, ResourceError) and found.exit_code == 4
    assert found.why == "no catalog at gs://c/catalog.json" and found.fix.startswith("pulumi up\nthe same command")
