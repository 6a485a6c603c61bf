"""A cluster is deleted only when the catalog has not offered it for a while. # N1"""

from datetime import timedelta

import pytest

from slipway.catalog.document import PublishedCatalog
from slipway.deployment.removal import GracePeriod
from slipway.errors import ConfigError
from slipway.live import Unknown


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


OFFERED = PublishedCatalog({"cpu": "cpu-old", "gpu": "gpu-old"}, (), timedelta(hours=1))
LEFT_OUT = PublishedCatalog({"cpu": "cpu-new"}, ("cpu-old",), timedelta(hours=1))


@pytest.mark.parametrize(
    "catalog",
    [
        OFFERED,
        PublishedCatalog({"cpu": "cpu-new"}, ("cpu-old",), None),
        None,
        Unknown("denied", "storage.objects.get", "roles/storage.objectViewer"),
    ],
)
def test_it_counts_from_the_first_question_when_nothing_tells_of_more(
    catalog: PublishedCatalog | Unknown | None,
) -> None:
    """The new catalog is published by then, or, in a destruction, deleted."""
    clock = Clock()
    grace = GracePeriod(120, clock)
    grace.began_with(catalog)
    clock.now += 600  # clusters are made, the catalog is published
    assert grace.left("cpu-old") == 120
    clock.now += 30
    assert grace.left("cpu-old") == 90
    assert grace.left("gpu-old") == 90, "clusters wait at the same time"
    clock.now += 100
    assert grace.left("cpu-old") == 0


@pytest.mark.parametrize(("age", "left"), [(3600, 0), (120, 0), (50, 70), (0, 120), (-300, 120)])
def test_a_deployment_that_comes_later_waits_for_nothing(age: float, left: float) -> None:
    """The age is the storage's own: an object may seem to come from the future, and then nothing is known of it."""
    grace = GracePeriod(120, Clock())
    grace.began_with(PublishedCatalog(LEFT_OUT.clusters, LEFT_OUT.retiring, timedelta(seconds=age)))
    assert grace.left("cpu-old") == left


def test_the_time_of_the_deployment_itself_counts_too() -> None:
    clock = Clock()
    grace = GracePeriod(120, clock)
    grace.began_with(PublishedCatalog(LEFT_OUT.clusters, LEFT_OUT.retiring, timedelta(seconds=10)))
    clock.now += 60
    assert grace.left("cpu-old") == 50


def test_an_account_and_buckets_are_offered_as_clusters_are() -> None:
    clock = Clock()
    grace = GracePeriod(120, clock)
    grace.began_with(
        PublishedCatalog({}, (), timedelta(hours=1), needs=frozenset({"acme-work", "t@acme.iam"})), "acme-2"
    )
    assert grace.left("t@acme.iam") == grace.left("acme-work") == 120
    assert grace.left("u@acme.iam") == 0
    assert grace.replaced("acme-catalog") and not grace.replaced("acme-2")
    assert not GracePeriod(120, clock).replaced("acme-catalog"), "in a destruction nothing is published elsewhere"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [({}, 120), ({"SLIPWAY_GRACE": ""}, 120), ({"SLIPWAY_GRACE": "5m"}, 300), ({"SLIPWAY_GRACE": " 90 "}, 90)],
)
def test_it_is_two_minutes_unless_set_otherwise(environ: dict[str, str], expected: float) -> None:
    assert GracePeriod.of(environ).left("cpu-old") == pytest.approx(expected, abs=1)


@pytest.mark.parametrize("text", ["0", "0s"])
def test_it_may_be_nothing(text: str) -> None:
    assert GracePeriod.of({"SLIPWAY_GRACE": text}).left("cpu-old") == 0


@pytest.mark.parametrize("text", ["soon", "-1", "inf", "2 weeks"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ConfigError) as error:
        GracePeriod.of({"SLIPWAY_GRACE": text})
    assert error.value.what == f"SLIPWAY_GRACE: invalid duration '{text}'"
    assert "SLIPWAY_GRACE=2m" in error.value.fix
