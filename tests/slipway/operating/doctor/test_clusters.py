"""Clusters that are broken, that nobody keeps, or that are there for too long; in other regions too. # N10 N1 N2"""

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.authoring.stack.yaml_file import from_text
from slipway.google.clusters import PersistentResource
from slipway.google.live import Live, Unknown
from slipway.google.quota.seasons import judge
from slipway.google.storage import Location
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.cluster import Adoption, ClusterSpec
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.fingerprint import cluster_id, fingerprint_of
from slipway.model.labels import STACK_LABEL
from slipway.model.season import MACHINES, Season
from slipway.model.state import State, StateResource
from slipway.operating.doctor.clusters import not_made
from slipway.operating.doctor.drift import of_clusters
from slipway.operating.doctor.picture import Backend
from slipway.operating.doctor.place import Place
from slipway.operating.doctor.reading import _declared
from tests.slipway.operating.doctor.picture import BUSY, CPU, FILE, found, lives, picture, published, state
from tests.slipway.reviewing.builders import H100, NOW, PROJECT, REGION, STACK, catalog, cluster, job, limits, pool

OLD = cluster("cpu", generation=7)
"""An earlier generation of the same name."""


def test_a_stack_that_is_well_has_no_findings() -> None:
    assert found() == {}
    assert found(backend=Backend("file:///state", state(CPU.id))) == {}


def test_a_cluster_in_error_says_since_when_and_why_and_what_clears_it(snapshot: SnapshotAssertion) -> None:  # N2
    failed = lives(state="ERROR", error="no machines in us-central1", update_time=NOW - timedelta(hours=3))
    finding = found(failed)["cluster-failed"]
    assert finding.sentence == snapshot
    assert (finding.grade, finding.fix, finding.means) == snapshot


def test_a_name_that_somebody_else_holds_is_never_ours_to_delete() -> None:  # N2
    foreign = replace(lives(), labels={})
    finding = found(foreign, jobs=())["name-taken"]
    # The catalog offers its id, so no deployment goes on, whatever `generation` says.
    delete = f"gcloud ai persistent-resources delete {CPU.id} --project={PROJECT} --region={REGION}"
    assert finding.fix == delete and "left alone" in finding.sentence
    assert "cluster-in-no-stack" not in found(foreign)


def test_what_the_state_lacks_is_in_no_state_unless_it_is_being_made() -> None:
    backend = Backend("gs://state", state())
    finding = found(backend=backend)["cluster-in-no-state"]
    assert finding.sentence == "cluster cpu-11ece8d is in no state, so no deployment ends it by itself: $0.46/h"
    assert finding.grade is Grade.WARNING
    busy = replace(backend, pending=("work",))
    assert found(backend=busy)["cluster-in-no-state"].grade is Grade.NOTE


@pytest.mark.parametrize(("labels", "words"), [({}, "is in no stack"), ({STACK_LABEL: "lab"}, "belongs to stack lab")])
def test_a_cluster_of_nobody_is_told_with_its_price(labels: dict[str, str], words: str) -> None:
    stray = replace(lives(OLD), name="scratch", labels=labels)
    finding = found(lives(used=1), stray)["cluster-in-no-stack"]
    assert words in finding.sentence and "$0.46/h" in finding.sentence
    assert finding.fix == "gcloud ai persistent-resources delete scratch --project=acme-prod --region=us-central1"
    # One that has another stack's label can't be adopted.
    assert ("adopt it by `id: scratch`" in finding.means) is (not labels)
    # Without a checkout nobody knows which stacks there are.
    assert ("cluster-in-no-stack" in found(lives(used=1), stray, stacks=())) is (not labels)


@pytest.mark.parametrize("labels", [{}, {STACK_LABEL: "lab"}])
def test_no_deletion_is_named_while_somebody_elses_cluster_is_at_work(labels: dict[str, str]) -> None:  # N10
    """The command that deletes it stood first, though a job of theirs ran on it."""
    stray = replace(lives(OLD, used=1), name="team-a", labels=labels)
    theirs = replace(job("sleeper", on=OLD), persistent_resource_id="team-a")
    finding = found(lives(used=1), stray, jobs=(BUSY, theirs))["cluster-in-no-stack"]
    assert finding.sentence.endswith("sleeper is on it") and finding.fix == "slipway jobs show sleeper"
    assert finding.means.startswith("ask whoever uses it") and ("adopt it by `id: team-a`" in finding.means) is (
        not labels
    )
    unlisted = found(lives(used=1), stray)["cluster-in-no-stack"]
    assert unlisted.sentence.endswith("its machines are in use")
    assert unlisted.fix == "leave team-a alone until nothing uses its machines"
    unread = found(lives(used=1), replace(stray, pools=()), jobs=Unknown("denied", "", ""))["cluster-in-no-stack"]
    assert unread.sentence.endswith("its jobs can't be read") and unread.fix == unlisted.fix
    taken = found(replace(lives(used=1), labels={}))["name-taken"]
    assert taken.fix == "slipway jobs show train-1" and "nothing is deployed" in taken.means


RETIRING = published(catalog(CPU, retiring=(OLD.id,)))


def test_a_generation_that_retires_for_long_names_its_jobs_or_says_that_it_is_idle() -> None:  # N1
    stays = job("tune-27b-x1", on=OLD)
    finding = found(lives(days=6, used=1), lives(OLD, used=1), jobs=(BUSY, stays), published=RETIRING)[
        "cluster-retires-long"
    ]
    assert finding.sentence == "cluster cpu-12e063a has been retiring for 6 days: tune-27b-x1 is on it, $0.46/h"
    assert finding.fix == "slipway jobs show tune-27b-x1"
    finding = found(lives(days=6, used=1), lives(OLD), published=RETIRING)["cluster-retires-long"]
    assert finding.sentence.endswith("it is idle, $0.46/h") and finding.fix == f"make up STACK={STACK}"
    patient = published(catalog(cluster("cpu", retire_within=timedelta(days=7)), retiring=(OLD.id,)))
    assert found(lives(days=6, used=1), lives(OLD, used=1), published=patient) == {}


def test_of_one_that_is_named_no_more_and_had_no_limit_only_what_is_known_is_an_alarm() -> None:  # N1, N10
    """Seconds after the `up` that took the entry out, a person was told that it should have retired by now."""
    gone = cluster("big")
    stays = job("tune-27b-x1", on=gone)
    for age, grade, words in (
        (timedelta(hours=23), Grade.NOTE, "for 23 h or longer"),
        (timedelta(hours=25), Grade.WARNING, "for 25 h or longer"),
        (None, Grade.NOTE, "for an unknown time"),
    ):
        told = replace(published(catalog(CPU, retiring=(gone.id,))), age=age)
        finding = found(lives(used=1), lives(gone, used=1), jobs=(BUSY, stays), published=told)["cluster-retires-long"]
        assert (
            gone.id in finding.sentence
            and f" {words}: tune-27b-x1 " in finding.sentence
            and "$0.46/h" in finding.sentence
        )
        assert (finding.grade, finding.fix) == (grade, "slipway jobs show tune-27b-x1")


def test_a_cluster_whose_season_is_over_retires_since_then() -> None:  # B6
    def told(days: float) -> Mapping[str, Finding]:
        rests = DormantCluster(**vars(OLD) | {"why": "season", "since": NOW - timedelta(days=days)})
        whole = catalog(CPU, retiring=(OLD.id,), dormant={"cpu": rests})
        return found(lives(used=1), lives(OLD, used=1), published=published(replace(whole, clusters={})), jobs=())

    assert "cluster-retires-long" not in told(0.5)
    assert "machines are in use" in told(3)["cluster-retires-long"].sentence


def test_a_cluster_older_than_the_cloud_advises(snapshot: SnapshotAssertion) -> None:
    assert found(lives(days=30, used=1)) == {}
    finding = found(lives(days=34, used=1))["cluster-old"]
    assert finding.sentence == "cluster cpu-11ece8d is 34 days old; the cloud advises 30"
    assert "`generation` of cpu" in finding.fix and finding.fix.endswith(f"{FILE}:4")
    assert found(lives(days=34, used=1), document=None)["cluster-old"].fix == snapshot


DORMANT = DormantCluster(**vars(cluster("gpu", id="gpu-0000001")))
IDLE_ENGINE, BUSY_ENGINE = (Backend("gs://s", state(CPU.id), pending) for pending in ((), ("creation",)))


@pytest.mark.parametrize(
    ("age", "backend", "lasts", "at_work"),
    [
        (timedelta(hours=5), None, "for 5 h or longer", False),
        (timedelta(hours=1), None, "for 1 h or longer", True),
        (timedelta(hours=1), IDLE_ENGINE, "for 1 h or longer", False),
        (timedelta(hours=5), BUSY_ENGINE, "for 5 h or longer", True),
        (None, IDLE_ENGINE, "for an unknown time", False),
    ],
)
def test_a_declared_cluster_that_could_not_be_made_is_named_with_how_long_and_what_to_type(  # N2
    age: timedelta | None, backend: Backend | None, lasts: str, *, at_work: bool
) -> None:
    """After a stock-out, the doctor of a submitter without a checkout said nothing."""
    offered = replace(published(catalog(CPU, dormant={"gpu": DORMANT})), age=age)
    finding = found(published=offered, backend=backend)["cluster-not-made"]
    work = "; a deployment may be making it" if at_work else ""
    assert finding.sentence == f"cluster gpu is declared and has not been there {lasts}: no job can be sent to it{work}"
    assert finding.subject == Subject("cluster", "gpu-0000001")
    assert finding.grade is (Grade.NOTE if at_work else Grade.WARNING)
    assert finding.fix == f"make up STACK={STACK}" and f"`alternatives` in {FILE}:3" in finding.means


def test_a_season_that_waits_for_machines_is_told_and_one_to_come_is_not() -> None:  # B6
    def told(begins: datetime, *lacks: str) -> str:
        rests = replace(DORMANT, season=Season(begins), lacks=lacks or None)
        seen = found(published=published(catalog(CPU, dormant={"gpu": rests})), backend=IDLE_ENGINE)
        return seen["cluster-not-made"].sentence if "cluster-not-made" in seen else ""

    assert told(NOW + timedelta(days=9)) == ""
    waits = told(NOW.replace(hour=0, minute=0, second=0, microsecond=0), MACHINES)
    assert waits == f"cluster gpu waits for machines since its season began on {NOW:%Y-%m-%d}: no job can be sent to it"


def test_one_that_is_declared_anew_is_told_while_its_predecessor_stays() -> None:  # N2
    """No catalog names it: its predecessor is offered until it runs."""
    anew = replace(CPU, pools=(replace(CPU.pools[0], max=9),))
    as_it_is, later = (cluster_id("cpu", fingerprint_of(STACK, PROJECT, REGION, spec)) for spec in (CPU, anew))
    there = replace(CPU, id=as_it_is)
    before = replace(published(catalog(there)), age=timedelta(hours=2))

    def told(*declared: ClusterSpec, living: tuple[PersistentResource, ...] = (lives(there),)) -> str:
        seen = picture(*living, published=before, backend=IDLE_ENGINE, declared=declared)
        return "".join(finding.sentence for finding in not_made(seen))

    of_ago = "and not there: the catalog, of 2 h ago,"
    assert told(anew) == f"cluster cpu is declared anew, as {later}, {of_ago} offers {as_it_is} in its place"
    another = replace(CPU, name="gpu")
    assert re.fullmatch(rf"cluster gpu is declared, as gpu-\w{{7}}, {of_ago} does not have it", told(CPU, another))
    assert told(CPU) == ""
    made = lives(replace(anew, id=f"{later}-2"))
    assert told(anew, living=(lives(there), made)) == "", "a later deployment offers it"
    assert told(replace(anew, season=Season(NOW + timedelta(days=1)))) == ""
    assert told(replace(anew, name="x", adopted=Adoption("x"))) == ""


def test_a_file_that_is_wrong_or_edited_by_the_program_declares_nothing_that_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "config:\n  gcp:project: acme-prod\n  gcp:region: us-central1\n  gcp:addPulumiAttributionLabel: 'false'\n"
        "  slipway:persistentResources:\n    cpu: {pools: {all: {machine: n1-standard-4, replicas: 1}}}\n"
    )

    def declared(text: str) -> object:
        return _declared(Place("prod", PROJECT, REGION, Location("b", "c"), tmp_path, from_text(text, FILE)))

    (cpu,) = cast("tuple[ClusterSpec]", declared(text))
    assert cpu.name == "cpu"
    assert "it has mistakes, which slipway check prod names" in str(declared(text.replace("machine:", "machin:")))
    (tmp_path / "__main__.py").write_text("deploy(__file__, stack=edit)\n")
    assert "the program edits the stack" in str(declared(text))
    assert _declared(Place("prod", PROJECT, REGION, Location("b", "c"))) == ()
    monkeypatch.setitem(sys.modules, "slipway.authoring.stack.edit", None)  # As without the packages of a deployment.
    assert "declares anew: there is no slipway.authoring.stack.edit here" in str(declared(text))


AWAY = "us-east4"
FAR = replace(cluster("cpu", id="cpu-00000a1"), region=AWAY, alternative=1)
THEIR_JOB = job("train-1", on=FAR)
SEEN = {"published": published(catalog(FAR, other_regions=(AWAY,))), "jobs": (THEIR_JOB,), "recent": (THEIR_JOB,)}
"""The stack's catalog, and its job."""


def placed(living: PersistentResource, region: str = AWAY) -> PersistentResource:
    return replace(living, name=f"projects/1/locations/{region}/persistentResources/{living.id}")


THERE = placed(lives(FAR, used=1))


def test_one_that_is_well_there_is_no_finding_and_no_drift() -> None:
    assert found(THERE, **SEEN) == {}
    knows = State(clusters=(StateResource(FAR.id, FAR.id, PROJECT, AWAY),))
    assert found(THERE, **SEEN, backend=Backend("gs://state", knows)) == {}
    assert list(of_clusters(catalog(FAR), (THERE,))) == []
    (gone,) = of_clusters(catalog(FAR), (placed(lives(FAR), REGION),))
    assert gone.sentence == "somebody deleted it", "another region's is not it"


def test_what_is_wrong_with_it_names_its_region_and_its_price() -> None:
    failed = replace(THERE, state="ERROR", error="no machines")
    assert f"cluster {FAR.id} in us-east4" in found(failed, **SEEN)["cluster-failed"].sentence
    lost = found(THERE, **SEEN, backend=Backend("gs://state", state(FAR.id)))["cluster-in-no-state"]
    assert lost.sentence.startswith("cluster cpu-00000a1 in us-east4 is in no state")
    assert lost.sentence.endswith(": $0.52/h")
    idle = {**SEEN, "jobs": (), "recent": (replace(THEIR_JOB, end_time=NOW - timedelta(hours=48)),)}
    assert "$25.04 since its last job" in found(placed(lives(FAR)), **idle)["pool-idle"].sentence


def test_nobody_s_cluster_there_is_deleted_there_and_can_not_be_adopted() -> None:
    stray = placed(replace(lives(FAR), name="scratch", labels={}))
    finding = found(THERE, stray, **SEEN)["cluster-in-no-stack"]
    assert finding.sentence == "cluster scratch in us-east4 is in no stack: $0.52/h"
    assert finding.fix == "gcloud ai persistent-resources delete scratch --project=acme-prod --region=us-east4"
    assert "adopt" not in finding.means


def test_quota_there_is_asked_for_there_by_hand() -> None:  # N6
    def told(of: Cluster, **used: int) -> Finding:
        there = placed(lives(of, used=1))
        unlimited = {"custom_model_training_pd_ssd": -1, "custom_model_training_a3_cpus": -1}
        listed = limits({**{f"custom_model_training_{metric}": limit for metric, limit in used.items()}, **unlimited})
        live = Live((there,), (), limits({}), None, limits_elsewhere={AWAY: listed})
        return found(there, **SEEN, quota=judge(catalog(of), live, NOW))["quota-nearly-used"]

    finding = told(FAR, cpus=8)
    assert finding.subject == "quota custom_model_training_cpus in us-east4"
    assert finding.sentence == "on-demand N1/E2 vCPUs in us-east4: 8 of 8 in use, 0 left"
    assert finding.fix.startswith("ask for 32 of custom_model_training_cpus")
    finding = told(replace(FAR, pools=(pool("workers", H100),)), nvidia_h100_gpus=8)
    assert finding.fix.startswith("gcloud beta quotas preferences create")
    assert finding.fix.endswith("--dimensions=region=us-east4 --preferred-value=32")


def test_a_stack_file_tells_where_its_clusters_may_come_to_be() -> None:
    text = (
        "config:\n  slipway:persistentResources:\n    cpu:\n      alternatives:\n"
        "        - region: us-east4\n        - pools: {}\n        - region: us-central1\n        - region: 7\n"
        "        - region: evil.example/\n        - us-west1\n"
    )
    at = Place("prod", PROJECT, REGION, Location("b", "c"), Path(), from_text(text, FILE))
    assert at.declared_regions == ("us-east4",)
    assert replace(at, document=None).declared_regions == ()
