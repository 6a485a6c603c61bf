"""What can't be read is a finding of its own, and roles by the commands that need them. # N10 P5"""

from __future__ import annotations

import re
from concurrent.futures import Future
from pathlib import Path

from syrupy.assertion import SnapshotAssertion

from slipway.doctor.access import NEEDS
from slipway.doctor.examination import examine
from slipway.doctor.picture import Need
from slipway.doctor.reading import awaited
from slipway.findings.finding import Grade, shape_of
from slipway.live import Unknown
from tests.slipway.doctor.picture import CPU, found, lives, picture

GUIDE = (Path(__file__).resolve().parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")
DENIED = Unknown("denied", "aiplatform.googleapis.com persistentResources.list", "roles/aiplatform.viewer", "ada@acme")
OFF = Unknown("Vertex AI API has not been used", "aiplatform.googleapis.com x", "role", off=True)


def test_what_can_not_be_read_names_api_identity_and_role_and_hides_nothing(snapshot: SnapshotAssertion) -> None:
    findings = found(clusters=DENIED, commits=("1234567 x",))
    one = findings["unread"]
    assert one.sentence == snapshot
    assert (one.grade, one.fix) == snapshot
    assert set(findings) == {"unread", "catalog-older"}
    assert found(quota=DENIED)["unread-part"].grade is Grade.WARNING


def test_an_api_that_is_off_is_told_once() -> None:
    one = found(clusters=OFF, jobs=OFF, recent=OFF)["api-off"]
    assert one.sentence == "the API aiplatform.googleapis.com is switched off"
    assert one.fix == "gcloud services enable aiplatform.googleapis.com --project=acme-prod"


def test_a_missing_role_is_a_note_with_the_commands_that_need_it() -> None:
    one = found(gaps=(Need("project acme-prod", "", "roles/logging.viewer", "slipway jobs logs"),))["role-missing"]
    assert one.grade is Grade.NOTE
    assert one.sentence == "you don't have roles/logging.viewer on project acme-prod, which slipway jobs logs needs"


def test_the_guide_has_every_role_that_is_asked_about() -> None:
    section = GUIDE.partition("## What each verb needs")[2]
    assert {one.role for one in NEEDS} <= set(re.findall(r"roles/[\w.]+", section))


def test_the_shape_is_of_what_is_found_and_not_of_when_or_how_much() -> None:
    older = examine(picture(lives(days=34, used=1)))
    assert shape_of(older) == shape_of(examine(picture(lives(days=35, used=1))))
    assert shape_of(older) != shape_of(examine(picture(lives(used=1))))
    note = Need("project acme-prod", "", "roles/logging.viewer", "slipway jobs logs")
    assert shape_of(older) == shape_of(examine(picture(lives(days=34, used=1), gaps=(note,))))


def test_the_worst_comes_first() -> None:
    findings = examine(picture(lives(days=34, used=1), published=None, gaps=(Need("p", "", "r", "v"),)))
    assert [one.grade for one in findings] == sorted((one.grade for one in findings), reverse=True)
    assert findings[0].kind == "catalog-missing" and CPU.id


def test_whatever_takes_long_is_named_once() -> None:
    late, done, said = Future[None](), Future[None](), list[str]()
    done.set_result(None)

    def say(text: str) -> None:
        said.append(text)
        late.set_result(None)

    awaited({"clusters": late, "quota": done}, say, patience=0)
    awaited({"quota": done}, say, patience=0)
    assert said == ["still reading clusters …"]
