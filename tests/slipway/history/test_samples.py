"""Samples of machines: one object a day, however many write it. # N19 # N20"""

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.catalog.model import HISTORY
from slipway.cloud.clusters import PersistentResource, ResourcePool
from slipway.cloud.connection import connect
from slipway.cloud.storage import Location, Storage
from slipway.errors import ResourceError
from slipway.history.model import PoolKey, PoolSample, Sample
from slipway.history.samples import add_sample, day_objects, read_day, read_samples, sample_of, write_samples
from slipway.machines.spec import MachineSpec
from tests.local.conftest import LocalCloud

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
KEY = PoolKey("gpu-1a2b3c4", "workers")


@pytest.fixture
def storage(cloud: LocalCloud) -> Storage:
    return connect(cloud.env("deployer")).storage


@pytest.fixture
def bucket(cloud: LocalCloud) -> str:
    name = f"history-{uuid.uuid4().hex[:12]}"
    cloud.rest("POST", "/storage/v1/b?project=slipway-local", {"name": name, "versioning": {"enabled": True}})
    return name


def sample(minutes: float, live: int = 2) -> Sample:
    return Sample(NOON + timedelta(minutes=minutes), {KEY: PoolSample(live, 1)})


def kept(storage: Storage, bucket: str) -> list[Sample]:
    """Samples of both days."""
    days = day_objects(storage, bucket, NOON, NOON + timedelta(days=1))
    return [one for day in days for one in read_day(storage, day)]


def test_hourly_samples_of_a_day_are_one_object(storage: Storage, bucket: str) -> None:
    some = [sample(60 * hour, live=hour) for hour in range(15)]
    assert all(add_sample(storage, bucket, one) for one in some)
    assert kept(storage, bucket) == some
    listed = [one.at.name for one in storage.objects(Location(bucket, HISTORY))]
    assert listed == ["history/samples/2026-11-20.json", "history/samples/2026-11-21.json"]


def test_a_run_that_looks_again_at_once_adds_nothing(storage: Storage, bucket: str) -> None:
    assert add_sample(storage, bucket, sample(0))
    assert not add_sample(storage, bucket, sample(1, live=4))
    assert kept(storage, bucket) == [sample(0)]


def test_of_runs_at_the_same_moment_none_is_lost(storage: Storage, bucket: str) -> None:
    some = [sample(10 * number) for number in range(5)]
    with ThreadPoolExecutor(len(some)) as threads:
        list(threads.map(lambda one: add_sample(storage, bucket, one), some))
    assert kept(storage, bucket) == some


def written(at: str, live: object) -> bytes:
    body = {"schema": 1, "samples": [{"at": at, "pools": {"gpu-1a2b3c4/workers": {"live": live, "used": 0}}}]}
    return json.dumps(body).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"schema": 2, "samples": []}',
        b'{"schema": 1}',
        b"[" * 100_000,
        written("9999-12-31T23:59:59Z", 1),
        written("2026-11-21T00:00:00Z", 1),
        written("2026-11-20T10:00:00Z", -5),
        written("2026-11-20T10:00:00Z", 10**300),
    ],
)
def test_what_no_run_wrote_is_left_as_it_is(storage: Storage, bucket: str, content: bytes) -> None:
    at = Location(bucket, "history/samples/2026-11-20.json")
    storage.write(at, content, "application/json")
    with pytest.raises(ResourceError):
        add_sample(storage, bucket, sample(0))
    assert storage.read(at) == content


@pytest.mark.parametrize("state", ["ERROR", "PROVISIONING"])
def test_a_cluster_that_failed_or_is_not_there_yet_has_no_machines(state: str) -> None:  # N2
    """It is billed while it runs: what its pools are to have is not what is up."""
    pool = ResourcePool("workers", MachineSpec("n1-standard-4"), 3, 2, 1, 4)
    runs = PersistentResource("projects/p/locations/r/persistentResources/a", "UPDATING", {}, (pool,))
    none = PersistentResource("projects/p/locations/r/persistentResources/b", state, {}, (pool,))
    pools = {PoolKey("a", "workers"): PoolSample(3, 2), PoolKey("b", "workers"): PoolSample(0, 0)}
    assert sample_of((runs, none), NOON) == Sample(NOON, pools)


NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=8)
POOLS = st.dictionaries(
    st.builds(PoolKey, NAMES, NAMES), st.builds(PoolSample, st.integers(0, 99), st.integers(0, 99)), max_size=4
)
TIMES = st.datetimes(datetime(2020, 1, 1), datetime(2100, 1, 1)).map(lambda at: at.replace(microsecond=0, tzinfo=UTC))


@given(st.dictionaries(TIMES, POOLS, max_size=5))
def test_what_is_written_is_read_back_in_order(some: dict[datetime, dict[PoolKey, PoolSample]]) -> None:
    samples = [Sample(at, pools) for at, pools in some.items()]
    assert list(read_samples(write_samples(samples))) == sorted(samples, key=lambda one: one.at)
