"""A cluster in the catalog, and what it was made of, read back from there. # B6 # N5"""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

from slipway import codec
from slipway.catalog import clusters
from slipway.cluster import Alternative, ClusterSpec, CurrentCluster, DnsPeering, PoolSpec, PscInterface
from slipway.fingerprint import fingerprint_of
from slipway.generations.dormant import Dormancy
from slipway.generations.published_clusters import declared, published, published_dormant
from slipway.machines.spec import Disk, MachineSpec
from slipway.season import Season

REGION = "us-central1"
GPUS = PoolSpec("gpus", MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500)), 1, 4, True, 1)
FIXED = PoolSpec("fixed", MachineSpec("n1-standard-4"), 2, 2, False, 2)
FULL = ClusterSpec(
    "team",
    (GPUS, FIXED),
    display_name="Team",
    network="projects/1/global/networks/n",
    reserved_ip_ranges=("a", "b"),
    kms_key="projects/p/locations/us-central1/keyRings/r/cryptoKeys/k",
    psc=PscInterface("training", (DnsPeering("corp.example.", "net", "shared"),)),
    custom_service_account=False,
    labels={"team": "ml"},
    replacement="protect",
    generation=3,
    retire_within=timedelta(days=7),
    season=Season(datetime(2027, 1, 10, tzinfo=UTC), datetime(2027, 3, 1, 8, 30, tzinfo=UTC), timedelta(hours=4)),
)


def test_it_is_read_back_whole() -> None:
    plain = ClusterSpec("plain", (FIXED,))
    for spec in (FULL, plain):
        body = codec.write(published(CurrentCluster(spec, "x-1111111", "1111111", import_=True), REGION))
        found = declared(codec.read(clusters.Cluster, body, spec.name))
        assert fingerprint_of("prod", "acme", REGION, found) == fingerprint_of("prod", "acme", REGION, spec)
        for field in fields(spec):
            if field.name != "pools":  # The catalog's own have a price as well.
                assert getattr(found, field.name) == getattr(spec, field.name), field.name


def test_an_alternative_keeps_its_region_and_its_prices_are_of_there() -> None:  # N2
    others = (Alternative((FIXED,), "europe-west4"), Alternative((GPUS,)))
    spec = ClusterSpec("open", (FIXED,), alternatives=others)
    far = spec.options[1]
    for one in (spec, far):
        cluster = published(CurrentCluster(one, "x-1111111", "1111111", import_=True), REGION)
        found = declared(codec.read(clusters.Cluster, codec.write(cluster), "open"))
        assert (found.region, found.alternative) == (one.region, one.alternative)
        assert [(other.region, len(other.pools)) for other in found.alternatives] == [
            (other.region, len(other.pools)) for other in one.alternatives
        ]
        digests = [fingerprint_of("prod", "acme", REGION, each) for each in (one, found)]
        assert digests[0] == digests[1]
    assert fingerprint_of("prod", "acme", REGION, far) != fingerprint_of("prod", "acme", REGION, spec)
    assert far.place_in_order == "alternative 1 in europe-west4" and spec.other_regions == ("europe-west4",)
    at_home = published(CurrentCluster(spec, "x-1111111", "1111111", import_=True), REGION)
    there = published(CurrentCluster(far, "x-2222222", "2222222", import_=True), REGION)
    assert there.pools["fixed"].price_per_hour != at_home.pools["fixed"].price_per_hour
    assert there.pools["fixed"].price_per_hour == at_home.instead[0][0]["fixed"].price_per_hour


def test_a_season_is_three_keys_and_none_where_there_is_none() -> None:
    body = codec.write(published(CurrentCluster(FULL, "team-1", "1", import_=True), REGION))
    assert (body["from"], body["until"]) == ("2027-01-10T00:00:00Z", "2027-03-01T08:30:00Z")
    assert body["idleLimit"] == 14400.0
    body = codec.write(published(CurrentCluster(ClusterSpec("a", (FIXED,)), "a-1", "1", import_=True), REGION))
    assert not {"from", "until", "idleLimit", "season"} & body.keys()


def test_one_that_is_dormant_says_why_and_since_when() -> None:
    since = datetime(2027, 2, 1, tzinfo=UTC)
    for dormant in (Dormancy(FULL, "team-1", "idle", since), Dormancy(FULL, "team-1", "season")):
        body = codec.write(published_dormant(dormant, REGION))
        found = codec.read(clusters.DormantCluster, body, "team")
        assert (found.why, found.since, found.id) == (dormant.why, dormant.since, "team-1")
        assert found.words == dormant.words
        assert replace(FULL, pools=()) == replace(declared(found), pools=())
