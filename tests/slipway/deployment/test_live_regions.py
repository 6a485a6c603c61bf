"""A stack's clusters are looked for in every region that one of them may be in. # N2"""

from dataclasses import replace

import pytest

from slipway.catalog.document import PublishedCatalog
from slipway.catalog.model import Catalog
from slipway.cloud.connection import Connection
from slipway.cluster import Alternative
from slipway.deployment.live_plan import read_and_plan
from slipway.deployment.live_reader import LiveScope
from slipway.deployment.snapshot import read
from slipway.errors import ConfigError
from slipway.live import Live, Unknown
from slipway.state import State, StateResource

from . import world
from .conftest import WANTED, Service
from .test_live_plan import NOBODY, NOW, STACK, silent


def test_other_regions_are_read_beside_the_own_one(connection: Connection, service: Service) -> None:  # N2
    """And a list that fails in one of them is no empty one."""
    service["clusters"] = {
        "persistentResources": [{"name": "projects/1/locations/us-central1/persistentResources/cpu-1a2b3c4"}]
    }
    service["jobs"] = {
        "customJobs": [{"name": "projects/1/locations/us-central1/customJobs/1", "state": "JOB_STATE_RUNNING"}]
    }
    far = {"name": "projects/1/locations/europe-west4/persistentResources/cpu-9f8e7d6"}
    service["far clusters"] = {"persistentResources": [far]}
    wanted = replace(WANTED, elsewhere=("europe-west4",))
    found, _ = read(connection, wanted, off_is_empty=False)
    assert not isinstance(found.clusters, Unknown) and not isinstance(found.jobs, Unknown)
    assert [(one.id, one.region) for one in found.clusters] == [
        ("cpu-1a2b3c4", "us-central1"),
        ("cpu-9f8e7d6", "europe-west4"),
    ]
    assert set(found.limits_elsewhere) == {"europe-west4"}
    alone = found.at("europe-west4", home=False)
    assert not isinstance(alone.clusters, Unknown) and [one.id for one in alone.clusters] == ["cpu-9f8e7d6"]
    service["far clusters"] = (403, {"error": {"code": 403, "message": "no", "status": "PERMISSION_DENIED"}})
    unread = read(connection, wanted, off_is_empty=False)[0].clusters
    assert isinstance(unread, Unknown) and unread.api.endswith("persistentResources.list in europe-west4")


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"acme-work": "us-central1"}, ""),
        ({"acme-work": "us-central1", "acme-work-us-east4": "us-east4"}, ""),
        ({"acme-work": "europe-west4"}, "gs://acme-work is in europe-west4, and jobs in us-central1 can't write"),
        ({"acme-work": "us"}, "gs://acme-work is in us, and jobs in us-central1 can't write"),
        (
            {"acme-work-us-east4": "us-west1"},
            "gs://acme-work-us-east4 is in us-west1, and jobs in us-east4 can't write",
        ),
    ],
)
def test_a_work_bucket_is_where_its_jobs_are(
    monkeypatch: pytest.MonkeyPatch, where: dict[str, str], said: str, preview: bool
) -> None:  # N2 N13
    """An adopted one may be anywhere, and the service refuses a job whose output is in another region."""
    asked: list[LiveScope] = []

    def answered(_: Connection, wanted: LiveScope, **__: object) -> tuple[Live, list[str]]:
        asked.append(wanted)
        there = frozenset(where)
        return Live(clusters=(), jobs=(), limits={}, catalog=None, buckets=there, locations=where), []

    monkeypatch.setattr("slipway.deployment.live_plan.read", answered)
    spec = world.spec()
    stack = replace(STACK, clusters=(replace(spec, alternatives=(Alternative(spec.pools, "us-east4"),)),))
    environ = {**NOBODY, "GOOGLE_OAUTH_ACCESS_TOKEN": "token"}
    if said:
        with pytest.raises(ConfigError) as error:
            read_and_plan(stack, environ, preview, NOW, silent, silent)
        assert said in error.value.what and "slipway:workspace.workBucket" in error.value.why
    else:
        read_and_plan(stack, environ, preview, NOW, silent, silent)
    assert asked[0].buckets == ("acme-catalog", "acme-work", "acme-work-us-east4")


@pytest.mark.parametrize(
    ("file", "known", "published", "regions"),
    [
        ("europe-west4", State(), "", [("europe-west4",)]),
        ("", State(clusters=(StateResource("cpu-1", "cpu-1", "acme-dev", "us-east4"),)), "", [("us-east4",)]),
        ("", State(), "us-east4", [(), ("us-east4",)]),
        ("europe-west4", State(), "europe-west4", [("europe-west4",)]),
    ],
)
def test_clusters_are_looked_for_wherever_file_state_or_catalog_know_of_one(
    monkeypatch: pytest.MonkeyPatch, file: str, known: State, published: str, regions: list[tuple[str, ...]]
) -> None:  # N2
    """A state that was lost, and an entry that is gone, leave the catalog to tell."""
    asked: list[tuple[str, ...]] = []
    whole = Catalog("dev", "acme-dev", "us-central1", "", False, "acme-work", "", {}, (), {})
    whole = replace(whole, other_regions=(published,) if published else None)

    def answered(_: Connection, wanted: LiveScope, **__: object) -> tuple[Live, list[str]]:
        asked.append(wanted.elsewhere)
        catalog = PublishedCatalog(stack="dev", whole=whole)
        return Live(clusters=(), jobs=(), limits={}, catalog=catalog), []

    monkeypatch.setattr("slipway.deployment.live_plan.read", answered)
    spec = world.spec()
    spec = replace(spec, alternatives=(Alternative(spec.pools, file),)) if file else spec
    environ = {**NOBODY, "GOOGLE_OAUTH_ACCESS_TOKEN": "token"}
    read_and_plan(replace(STACK, clusters=(spec,)), environ, True, NOW, silent, silent, known=known)
    assert asked == regions
