"""Parts of a stack that are read, and those that can't be, each a finding: catalog, quota, roles. # N10 N6 P5"""

import re
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

from syrupy.assertion import SnapshotAssertion

from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Live, Unknown
from slipway.google.quota.seasons import judge
from slipway.model.findings.finding import Grade, shape_of
from slipway.operating.doctor.access import NEEDS
from slipway.operating.doctor.examination import examine
from slipway.operating.doctor.picture import Backend, Need
from slipway.operating.doctor.reading import awaited
from tests.slipway.operating.doctor.picture import BUSY, CPU, found, lives, picture, published, state
from tests.slipway.reviewing.builders import H100, NOW, catalog, cluster, limits, pool

GUIDE = (Path(__file__).resolve().parents[4] / "docs" / "cli.md").read_text(encoding="utf-8")
DENIED = Unknown("denied", "aiplatform.googleapis.com persistentResources.list", "roles/aiplatform.viewer", "ada@acme")
OFF = Unknown("Vertex AI API has not been used", "aiplatform.googleapis.com x", "role", off=True)


def test_what_can_not_be_read_names_api_identity_and_role_and_hides_nothing(snapshot: SnapshotAssertion) -> None:
    findings = found(clusters=DENIED, commits=("1234567 x",))
    finding = findings["unread"]
    assert finding.sentence == snapshot
    assert (finding.grade, finding.fix) == snapshot
    assert set(findings) == {"unread", "catalog-older"}
    assert found(quota=DENIED)["unread-part"].grade is Grade.WARNING


def test_an_api_that_is_off_is_told_once() -> None:
    finding = found(clusters=OFF, jobs=OFF, recent=OFF)["api-off"]
    assert finding.sentence == "the API aiplatform.googleapis.com is switched off"
    assert finding.fix == "gcloud services enable aiplatform.googleapis.com --project=acme-prod"


def test_the_guide_has_every_role_that_is_asked_about() -> None:
    section = GUIDE.partition("## What each verb needs")[2]
    assert {need.role for need in NEEDS} <= set(re.findall(r"roles/[\w.]+", section))


def test_the_shape_is_of_what_is_found_and_not_of_when_or_how_much() -> None:
    older = examine(picture(lives(days=34, used=1)))
    assert shape_of(older) == shape_of(examine(picture(lives(days=35, used=1))))
    assert shape_of(older) != shape_of(examine(picture(lives(used=1))))
    note = Need("project acme-prod", "", "roles/logging.viewer", "slipway jobs logs")
    assert shape_of(older) == shape_of(examine(picture(lives(days=34, used=1), gaps=(note,))))


def test_whatever_takes_long_is_named_once() -> None:
    late, done, said = Future[None](), Future[None](), list[str]()
    done.set_result(None)

    def say(text: str) -> None:
        said.append(text)
        late.set_result(None)

    awaited({"clusters": late, "quota": done}, say, patience=0)
    awaited({"quota": done}, say, patience=0)
    assert said == ["still reading clusters …"]


CPUS = "custom_model_training_cpus"


def test_without_a_catalog_nobody_can_submit() -> None:
    finding = found(published=None)["catalog-missing"]
    assert finding.grade is Grade.BLOCKING and finding.sentence == "stack prod has no catalog: nobody can submit"
    damaged = found(published=PublishedCatalog(damage="not valid JSON"))["catalog-damaged"]
    assert "(not valid JSON)" in damaged.sentence and damaged.fix == "make up STACK=prod"


def test_a_catalog_older_than_the_stack_names_the_newest_commit(snapshot: SnapshotAssertion) -> None:
    finding = found(commits=("1234567 Give the pool more machines", "89abcde Earlier"))["catalog-older"]
    assert finding.sentence == snapshot
    assert "1 commit since then changes" in found(commits=("1234567 x",))["catalog-older"].sentence


def test_a_state_ahead_of_the_catalog_tells_of_a_deployment_that_ended_early() -> None:
    new = cluster("cpu", generation=2)
    backend = Backend("gs://state", state(CPU.id, new.id))
    finding = found(backend=backend)["deployment-unfinished"]
    assert f"the state has {new.id}," in finding.sentence
    assert set(found(backend=replace(backend, pending=("work",)))) == {"operation-pending"}, "it is under way"


def test_quota_that_is_nearly_used_says_by_whom_and_how_to_ask_for_more() -> None:
    def report(limit: int) -> object:
        other = replace(lives(replicas=1), name="other", labels={})
        live = Live((lives(used=1), other), (BUSY,), limits({CPUS: limit, "custom_model_training_pd_ssd": -1}), None)
        return judge(catalog(CPU), live, NOW)

    finding = found(quota=report(17))["quota-nearly-used"]
    assert finding.sentence == "on-demand N1/E2 vCPUs in us-central1: 16 of 17 in use, 1 left (8 by others)"
    assert finding.fix == "ask for more: slipway quota --request custom_model_training_cpus=40, with --contact"
    assert finding.means == "increase can be requested"
    assert "quota-nearly-used" not in found(quota=report(18))
    assert "quota-nearly-used" not in found(quota=report(-1))


def test_more_is_asked_for_in_whole_machines() -> None:  # N6
    """A quarter more than 16 GPUs is 20, which buys no machine of eight."""
    two = cluster("h100", pool("workers", H100, 2, None))
    unlimited = {"custom_model_training_pd_ssd": -1, "custom_model_training_a3_cpus": -1}
    gpus = "custom_model_training_nvidia_h100_gpus"
    live = Live((lives(two, replicas=2),), (), limits({gpus: 16, **unlimited}), None)
    told = found(published=published(catalog(two)), quota=judge(catalog(two), live, NOW))["quota-nearly-used"]
    assert told.fix == "ask for more: slipway quota --request custom_model_training_nvidia_h100_gpus=24, with --contact"
