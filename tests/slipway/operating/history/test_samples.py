"""A history's parts: its jobs as they are listed, and samples of machines, one object a day. # N19 # N20"""

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.base.errors import ResourceError
from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.connection import connect
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location, Storage
from slipway.google.worker_pools import WorkerPool
from slipway.model.catalog.model import HISTORY
from slipway.model.machines.spec import MachineSpec
from slipway.operating.history.model import Deployment, PastJob, PoolKey, PoolSample, Sample
from slipway.operating.history.past_job import ClustersOverTime, past_job
from slipway.operating.history.samples import add_sample, day_objects, read_day, read_samples, sample_of, write_samples
from slipway.using.jobs.log import JobEvents
from tests.builders import catalogs
from tests.local.conftest import LocalCloud
from tests.slipway.operating.whatif.past import CPU, SINCE, cluster, pool

H100 = MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8)
GPU = cluster("gpu", pool("head", 1, 1), pool("workers", 1, 4, H100))
NOW = SINCE + timedelta(days=9)
JOB = VertexJob(
    name="projects/1/locations/us-central1/customJobs/1",
    display_name="ddp",
    state="JOB_STATE_SUCCEEDED",
    labels={"slipway-user": "ada", "slipway-template": "ddp", "slipway-sweep": "lr", "slipway-run": "3"},
    worker_pools=(WorkerPool(CPU, 1), WorkerPool(CPU, 0), WorkerPool(H100, 2)),
    persistent_resource_id=GPU.id,
    create_time=SINCE + timedelta(hours=1),
    start_time=SINCE + timedelta(hours=2),
    end_time=SINCE + timedelta(hours=3),
)
CLUSTERS = ClustersOverTime((Deployment(SINCE, catalogs.catalog(GPU)),))


def past(job: VertexJob = JOB, clusters: ClustersOverTime = CLUSTERS, events: JobEvents | None = None) -> PastJob:
    return past_job(job, clusters, NOW, events)


def test_each_role_is_on_the_pool_that_has_its_machines() -> None:
    history = past()
    assert [(machine.pool, machine.count) for machine in history.machines] == [("head", 1), ("workers", 2)]
    assert (history.cluster, history.state, history.sweep, history.run) == ("gpu", "SUCCEEDED", "lr", "3")
    assert history.cost and history.cost.known and history.busy == 3600


def test_a_cluster_that_no_deployment_named_goes_by_its_id() -> None:
    history = past(clusters=ClustersOverTime(()))
    assert (history.cluster, history.cluster_id) == (GPU.id, GPU.id) and {
        machine.pool for machine in history.machines
    } == {""}


def test_time_without_machines_that_nobody_could_tell_is_unknown() -> None:  # X7
    spot = replace(JOB, persistent_resource_id="", strategy="SPOT")
    untold, told = past(spot), past(spot, events=JobEvents())
    assert untold.lost is None and untold.cost is not None and untold.cost.at_most
    assert told.lost == 0 and told.cost is not None and not told.cost.at_most and not told.cluster


NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
KEY = PoolKey("gpu-1a2b3c4", "workers")


@pytest.fixture
def storage(cloud: LocalCloud) -> Storage:
    return connect(cloud.env("deployer")).storage


@pytest.fixture
def bucket(cloud: LocalCloud) -> str:
    name = f"history-{uuid.uuid4().hex[:12]}"
    cloud.rest("POST", "/storage/v1/b?project=local-project", {"name": name, "versioning": {"enabled": True}})
    return name


def sample(minutes: float, live: int = 2) -> Sample:
    return Sample(NOON + timedelta(minutes=minutes), {KEY: PoolSample(live, 1)})


def kept(storage: Storage, bucket: str) -> list[Sample]:
    """Samples of both days."""
    days = day_objects(storage, bucket, NOON, NOON + timedelta(days=1))
    return [sample for day in days for sample in read_day(storage, day)]


def test_hourly_samples_of_a_day_are_one_object(storage: Storage, bucket: str) -> None:
    some = [sample(60 * hour, live=hour) for hour in range(15)]
    assert all(add_sample(storage, bucket, sample) for sample in some)
    assert kept(storage, bucket) == some
    listed = [sample.at.name for sample in storage.objects(Location(bucket, HISTORY))]
    assert listed == ["history/samples/2026-11-20.json", "history/samples/2026-11-21.json"]


def test_of_runs_at_the_same_moment_none_is_lost(storage: Storage, bucket: str) -> None:
    some = [sample(10 * number) for number in range(5)]
    with ThreadPoolExecutor(len(some)) as threads:
        list(threads.map(lambda item: add_sample(storage, bucket, item), some))
    assert kept(storage, bucket) == some


def written(at: str, live: object) -> bytes:
    body = {"schema": 1, "samples": [{"at": at, "pools": {"gpu-1a2b3c4/workers": {"live": live, "used": 0}}}]}
    return json.dumps(body).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"schema": 2, "samples": []}',
        b"[" * 100_000,
        written("9999-12-31T23:59:59Z", 1),
        written("2026-11-21T00:00:00Z", 1),
        written("2026-11-20T10:00:00Z", -5),
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
    assert list(read_samples(write_samples(samples))) == sorted(samples, key=lambda item: item.at)
