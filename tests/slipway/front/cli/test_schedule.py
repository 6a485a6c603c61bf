"""`slipway schedule`, and what `slipway pools` says of it: from the catalog and what lives alone. # B6"""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from slipway.base import codec
from slipway.base.errors import ConfigError, ResourceError
from slipway.deploying.deployment.published_schedule import upcoming
from slipway.deploying.engine.preview import EngineStep, Preview, Resource
from slipway.deploying.generations.dormant import Dormancy
from slipway.deploying.generations.published_clusters import published, published_dormant
from slipway.google.catalog.document import read
from slipway.google.connection import connect
from slipway.google.live import Live, Unknown
from slipway.google.live_reader import Reader
from slipway.model.catalog.model import Catalog
from slipway.model.cluster import ClusterSpec, CurrentCluster, PoolSpec
from slipway.model.facts import CATALOG, CLUSTER, TEMPLATE, WORKSPACE, Facts
from slipway.model.fingerprint import cluster_id, fingerprint_of
from slipway.model.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.model.machines.spec import MachineSpec
from slipway.model.season import Season, moment_in_words
from slipway.operating.doctor.reading import drifted
from slipway.reviewing.change import reading

from .stack import CLUSTERS, PROJECT, REGION, SHAPE, SPOT_CPUS, UNSET, Stack, held
from .test_sweep import points

pytestmark = pytest.mark.smoke

CPU = ClusterSpec("cpu", (PoolSpec("workers", MachineSpec("n1-standard-4"), 1, 3, True, 1),))
EMPTY = Catalog("dev", PROJECT, REGION, "", False, "w", "t", {}, (), {})
NOW = datetime(2026, 11, 20, tzinfo=UTC)
NOTHING = Live(clusters=(), jobs=(), limits={}, catalog=None)


def deployed(stack: Stack, season: Season, region: str = "") -> str:
    """Publish the stack's cluster with dates, and make it as a deployment does; in another region as its alternative.
    Its id."""
    spec = replace(CPU, season=season, region=region, alternative=1 if region else 0)
    clusters = CLUSTERS.replace(REGION, region or REGION)
    stack.catalog["otherRegions"] = [region] if region else None
    fingerprint = fingerprint_of(stack.name, PROJECT, REGION, spec)
    id_ = cluster_id("cpu", fingerprint)
    stack.catalog["clusters"]["cpu"] = codec.write(published(CurrentCluster(spec, id_, fingerprint, True), REGION))
    for template in stack.catalog["templates"].values():
        template["offers"][0]["request"]["jobSpec"]["persistentResourceId"] = id_
    stack.publish()
    pool = {
        **SHAPE,
        "id": "workers",
        "replicaCount": "1",
        "autoscalingSpec": {"minReplicaCount": "1", "maxReplicaCount": "3"},
    }
    labels = {STACK_LABEL: stack.name, NAME_LABEL: "cpu", HASH_LABEL: fingerprint}
    account = {"serviceAccountSpec": {"enableCustomServiceAccount": True}}
    body = {"labels": labels, "resourcePools": [pool], "resourceRuntimeSpec": account}
    stack.cloud.rest("POST", f"{clusters}?persistentResourceId={id_}", body)
    stack.until(lambda: bool(stack.cloud.rest("GET", f"{clusters}/{id_}")["state"] == "RUNNING"))
    return id_


def test_a_season_and_an_idle_limit_are_due_with_their_cost(stack: Stack) -> None:
    ends = (datetime.now(UTC) + timedelta(days=30)).replace(hour=0, minute=0, second=0, microsecond=0)
    id_ = deployed(stack, Season(None, ends, timedelta(hours=4)))
    done = stack.run("schedule")
    heads, idle, season = done.out.splitlines()
    assert heads.split("  ")[0] == "CLUSTER"
    assert idle.startswith(f"cpu      {id_}  is given up  ") and idle.endswith(", unless one comes")
    assert re.search(r" 0\.9[89] ", idle), "four hours, and the minute that another test's clock may be ahead"
    assert f"season ends  {moment_in_words(ends)}, in " in season
    due = stack.run("schedule", "--output", "json").json["due"]
    assert [(event["what"], event["nextDeployment"], event["clusterId"]) for event in due] == [
        ("idle-limit", False, id_),
        ("season-ends", False, id_),
    ]
    assert due[1]["time"] == ends.isoformat() and due[1]["pricePerHour"] == "0.245279"
    said = stack.run("pools").err
    assert f"cpu: season ends {moment_in_words(ends)}, " in said and "cluster cpu: is given up " in said
    assert [event["what"] for event in stack.run("pools", "--output", "json").json["due"]] == [
        "season-ends",
        "idle-limit",
    ]


def test_one_that_came_from_another_region_is_looked_for_there_by_everybody(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:  # N2
    ends = datetime.now(UTC) + timedelta(days=30)
    id_ = deployed(stack, Season(None, ends), "us-east4")
    (due,) = stack.run("schedule", "--output", "json").json["due"]
    assert (due["what"], due["clusterId"]) == ("season-ends", id_)
    assert due["pricePerHour"] == "0.275543", "that of its own region"
    found = stack.run("doctor", "--output", "json").json
    assert found["otherRegions"] == ["us-east4"] and id_ not in json.dumps(found["findings"])
    # Also where a deployment has left the region.
    stack.catalog |= {"otherRegions": None, "formerRegions": ["us-east4"]}
    stack.publish()
    assert "not looked at" not in stack.well("schedule").err
    with monkeypatch.context() as left:
        denied = Unknown("denied", "aiplatform.googleapis.com customJobs.list", "roles/aiplatform.viewer")
        jobs = Reader.jobs
        left.setattr(
            Reader, "jobs", lambda item, kind: denied if item.wanted.region == "us-east4" else jobs(item, kind)
        )
        without = stack.run("schedule")
    assert without.code == 0
    assert f"at us-east4, where stack {stack.name} offers no cluster: denied\n" in without.err
    stack.catalog |= {"otherRegions": ["us-east4"], "formerRegions": None}
    stack.publish()
    lines = stack.run("quota", "--output", "json").json["lines"]
    assert {(line["region"], line["now"]) for line in lines if line["label"].endswith("vCPUs") and line["now"]} == {
        ("us-east4", 4)
    }
    asked = stack.run("quota", "--request", "--dry-run", "--contact", "ml@acme.example")
    assert "--request is for us-central1, the" in (asked.err)
    # A review and drift look there too.
    environ = {key: value for key, value in stack.env("owner").items() if value != UNSET}
    known = Facts(read(json.dumps(stack.catalog), stack.address))
    of_bucket = {"bucket": f"c-{stack.name}", "name": "catalog.json"}
    parts = (
        (CATALOG, "x", "", known.published),
        (WORKSPACE, "x", "", known.workspace),
        *((CLUSTER, "x", "", cluster) for cluster in known.clusters.values()),
        *((TEMPLATE, name, "", template) for name, template in known.templates.items()),
        ("gcp:storage/bucketObject:BucketObject", "x", CATALOG, of_bucket),
    )
    standing = {
        f"{n}": EngineStep("same", f"{n}", type_, name, parent, old=Resource(inputs), new=Resource(inputs))
        for n, (type_, name, parent, inputs) in enumerate(parts)
    }
    preview = Preview(standing=standing, stack=stack.name)
    adopts = EngineStep(
        "import", "urn", "gcp:storage/bucket:Bucket", "catalog", new=Resource({"name": f"c-{stack.name}"})
    )
    adopting = replace(preview, steps=(adopts,))
    seen = reading.change(adopting, connect(environ), datetime.now(UTC), stack=stack.name)
    world = seen.comparison.world
    assert not isinstance(world.policies[f"c-{stack.name}"], Unknown)
    assert not isinstance(world.live.clusters, Unknown) and seen.unread == ()
    assert id_ in {cluster.id for cluster in world.live.clusters if cluster.region == "us-east4"}
    assert world.live.limits_elsewhere.keys() == {"us-east4"}
    found = drifted(preview, connect(environ), "").found
    assert {difference.field for difference in found if id_ in difference.subject} == {"displayName"}, (
        "which no test's cluster is made with"
    )
    stack.cloud.rest("DELETE", f"{CLUSTERS.replace(REGION, 'us-east4')}/{id_}")


def test_a_season_that_is_over_ends_with_the_next_deployment_or_after_its_jobs(stack: Stack) -> None:  # N1
    id_ = deployed(stack, Season(None, datetime.now(UTC) - timedelta(hours=1)))
    done = stack.run("schedule")
    row = " ".join(done.out.splitlines()[1].split())
    assert row.startswith(f"cpu {id_} is deleted next deployment 0.25 – cluster cpu is out of season since ")
    assert "$0.25/h ends with it: make up" in done.err
    stack.catalog["program"] = {"stack": stack.name, "workspace": "workspace"}
    stack.publish()
    assert f"$0.25/h ends with it: pulumi up --stack {stack.name}" in stack.run("schedule").err
    until = stack.catalog["clusters"]["cpu"].pop("until")
    stack.publish()
    name = held(stack, 1)
    stack.catalog["clusters"]["cpu"]["until"] = until
    stack.publish()
    row = " ".join(stack.run("schedule").out.splitlines()[1].split())
    assert row == f"cpu {id_} retires – 0.25 – when {name} has ended"


def test_without_dates_nothing_is_due(stack: Stack) -> None:
    deployed(stack, Season())
    done = stack.run("schedule")
    assert done.out == "" and f"nothing is due in stack {stack.name}" in done.err
    assert stack.run("schedule", "--output", "json").json["due"] == []


def test_a_dormant_cluster_says_when_it_comes_back(stack: Stack) -> None:
    begins = Season(begins=datetime(2199, 1, 10, tzinfo=UTC))
    dormant = Dormancy(replace(CPU, season=begins), "", "season")
    fingerprint = fingerprint_of(stack.name, PROJECT, REGION, dormant.spec)
    body = codec.write(published_dormant(replace(dormant, id=cluster_id("cpu", fingerprint)), REGION))
    stack.catalog.update(clusters={}, dormant={"cpu": body}, templates={})
    stack.publish()
    done = stack.run("schedule")
    assert " ".join(done.out.splitlines()[1].split()[2:6]) == "season begins 2199-01-10, in"
    assert "out of season until 2199-01-10" in stack.run("pools").err
    (cluster,) = stack.run("pools", "--output", "json").json["dormant"]
    assert (cluster["cluster"], cluster["why"], cluster["until"]) == ("cpu", "season", "2199-01-10T00:00:00+00:00")


def test_what_was_given_up_stays_so_and_what_can_not_be_read_is_said() -> None:
    spec = replace(CPU, season=Season(idle_limit=timedelta(hours=4)))
    id_ = cluster_id("cpu", fingerprint_of("dev", PROJECT, REGION, spec))
    catalog = replace(EMPTY, dormant={"cpu": published_dormant(Dormancy(spec, id_, "idle", NOW), REGION)})
    assert upcoming(catalog, NOTHING, NOW)[0].what == "create", "nobody remembers"
    unread = Unknown("403 denied", "persistentResources.list", "roles/aiplatform.viewer")
    with pytest.raises(ResourceError, match="can't be told"):
        upcoming(catalog, replace(NOTHING, clusters=unread), NOW)
    other = replace(catalog, dormant={"cpu": replace(catalog.dormant["cpu"], generation=9)})
    with pytest.raises(ConfigError, match="does not tell all") as error:
        upcoming(other, NOTHING, NOW)
    assert "a later version published it" in error.value.why and "update slipway" in error.value.fix


def test_what_is_being_replaced_in_place_is_not_said_to_come_back(stack: Stack) -> None:  # N1
    """The catalog has the old one, and the next deployment makes another."""
    fingerprint = fingerprint_of(stack.name, PROJECT, REGION, CPU)
    gone = Dormancy(CPU, cluster_id("cpu", fingerprint), "in-place", NOW)
    stack.catalog.update(clusters={}, dormant={"cpu": codec.write(published_dormant(gone, REGION))}, templates={})
    stack.publish()
    told = stack.run("schedule")
    assert "is made" not in told.out and "nothing is due" not in told.said
    assert "place since 2026-11-20 00:00 UTC" in told.said
    assert stack.run("schedule", "--output", "json").json["due"] == []


def test_what_is_out_of_season_takes_no_more_jobs_also_before_anybody_deploys(stack: Stack) -> None:  # B6 # N3
    """The job was accepted without a word, kept the cluster, and had it grow."""
    ended = (datetime.now(UTC) - timedelta(days=30)).replace(microsecond=0)
    why = f"cluster cpu is out of season since {moment_in_words(ended)}"
    deployed(stack, Season(None, ended))
    with stack.settings(quota=SPOT_CPUS):
        done = stack.well("submit", "hello", "--dry-run")
    assert "persistentResourceId" not in done.out and f"pool cpu not taken: {why}" in done.err
    done = stack.run("submit", "hello", "--capacity", "pool")
    assert done.code == 5 and "hello can't run now on" in done.err and why in done.err
    assert "fix: have a later `until`" in done.err and "wait until" not in done.err
    done = stack.run("submit", "hello", "--sweep", points(stack, 2), "--capacity", "pool")
    assert done.code == 5 and why in done.err and stack.jobs() == []
    assert "(pool), spot" in stack.run("templates").out
    assert "season ends, due 30 days" in stack.run("pools").err
