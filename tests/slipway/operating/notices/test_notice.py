"""What is told, and by which shape it is known again: from the documents that the other commands print."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from slipway.base import codec
from slipway.base.errors import ConfigError
from slipway.deploying.deployment.schedule import Due
from slipway.deploying.engine.drift import Then, drift
from slipway.front.cli.doctor import document as doctor
from slipway.front.cli.drift import document as drift_document
from slipway.front.cli.terminal.documents import dates_document
from slipway.model.catalog.clusters import DormantCluster
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS as FINDINGS
from slipway.model.findings.kinds import to_document as findings_document
from slipway.model.season import Season
from slipway.operating.doctor.reading import Drifted
from slipway.operating.notices.issues import steps
from slipway.operating.notices.notice import KINDS, Notices, line, of_document, of_run
from tests.slipway.deploying.creation.test_cluster_creation import NEW, OPEN, OTHERS, Story, failed
from tests.slipway.deploying.creation.vertex import OPERATION, gone, unanswered
from tests.slipway.operating.doctor.picture import picture

NOW = datetime(2026, 12, 15, tzinfo=UTC)
OLD = FINDINGS["cluster-retires-long"]


def found(*findings: Finding) -> Notices:
    return of_document(codec.document({"kind": "doctor"} | doctor(picture(), findings)), "doctor.json")


def changed(*drifted: Finding, unread: tuple[str, ...] = ()) -> Notices:
    return of_document(
        codec.document({"kind": "drift"} | drift_document("prod", Drifted(drifted, unread))), "drift.json"
    )


def due(*dates: Due, dormant: Iterable[DormantCluster] = ()) -> Notices:
    body = {
        "kind": "schedule",
        "stack": "prod",
        "time": NOW,
        **dates_document(dates, dormant, NOW),
    }
    return of_document(codec.document(body), "schedule.json")


def ends(days: float) -> Due:
    return Due("h100", "h100-3e29a36", "season-ends", "", NOW + timedelta(days=days))


def told(notices: Notices) -> list[tuple[str, str]]:
    return [(one.kind, one.subject) for one in notices.notices]


def test_what_retires_for_long_has_a_notice_of_its_own_that_changes_with_the_job_it_waits_for() -> None:  # N1
    one = found(OLD.of(Subject("cluster", "h100-1"), "retires for 6 days: tune runs", "slipway jobs show tune"))
    later = found(OLD.of(Subject("cluster", "h100-1"), "retires for 7 days: tune runs", "slipway jobs show tune"))
    other = found(OLD.of(Subject("cluster", "h100-1"), "retires for 7 days: lora runs", "slipway jobs show lora"))
    assert told(one) == [("retiring-overdue", "cluster h100-1")]
    assert one.notices[0].shape == later.notices[0].shape != other.notices[0].shape
    assert [(each.fix, each.means) for each in one.notices[0].lines] == [("slipway jobs show tune", "")]


def test_what_else_the_doctor_finds_is_one_notice_of_the_stack() -> None:  # N10
    idle = FINDINGS["pool-idle"].of(Subject("pool", "cpu/a"), "idle for 9 days", "lower `replicas.min`")
    one = found(idle, FINDINGS["cluster-failed"].of(Subject("cluster", "cpu-1"), "in ERROR", "pulumi up"))
    assert told(one) == [("doctor", "stack")]
    assert [line.sentence for line in one.notices[0].lines] == ["idle for 9 days", "in ERROR"]
    assert one.notices[0].shape != found(idle).notices[0].shape


def test_what_mends_is_told_with_its_condition() -> None:  # N10
    """ "mend: gcloud … delete team-a" was all that an issue said; "if nobody needs it" only the doctor did."""
    condition = "if nobody needs it; to keep it, adopt it by `id: team-a`"
    one = found(
        FINDINGS["cluster-in-no-stack"].of(
            Subject("cluster", "team-a"), "in no stack", "gcloud delete team-a", condition
        )
    )
    assert one.notices[0].lines == (line("in no stack", "gcloud delete team-a", condition),)
    (written,) = codec.document(one)["notices"]
    assert written["lines"] == [{"sentence": "in no stack", "mend": "gcloud delete team-a", "means": condition}]
    (step,) = steps(one, ())
    shown = "- in no stack: `gcloud delete team-a` (if nobody needs it; to keep it, adopt it by `id: team-a`)"
    assert shown in step.body


@pytest.mark.parametrize("kind", ["role-missing", "unread-part", "catalog-older", "deployment-unfinished"])
def test_a_note_and_what_comes_and_goes_with_each_deployment_is_not_told(kind: str) -> None:
    assert told(found(FINDINGS[kind].of(Subject("it"), "so it is"))) == []


def test_what_could_not_be_read_may_be_there_all_the_same() -> None:
    assert found(FINDINGS["unread"].of(Subject("clusters"), "can't be read")) == Notices()
    assert found().looked == {("retiring-overdue", "prod"), ("doctor", "prod")}


def test_a_season_is_told_a_week_before_it_ends_and_anew_when_its_date_moves() -> None:  # B6
    one, moved = due(ends(5)), due(ends(6))
    assert told(one) == [("season-ends", "h100")]
    assert one.notices[0].title.endswith("h100 ends 2026-12-20")
    assert one.notices[0].shape != moved.notices[0].shape
    assert told(due(ends(8), Due("cpu", "cpu-1", "retire", "", overdue=True))) == []
    assert due().looked == {("season-ends", "prod"), ("season-awaits-quota", "prod")}


def test_a_season_that_waits_for_quota_is_told_until_it_has_it_and_anew_when_it_lacks_another() -> None:  # B6, D2
    """The scheduled deployments succeed meanwhile, and a review says it once."""
    waits = DormantCluster("h100", (), id="h100-3e29a36", season=Season(begins=NOW), lacks=("gpus",))
    one, more = due(dormant=[waits]), due(dormant=[replace(waits, lacks=("gpus", "pd_ssd"))])
    assert told(one) == [("season-awaits-quota", "h100")]
    assert one.notices[0].title.startswith("prod: cluster h100 waits ")
    first = one.notices[0].lines[0]
    assert first.sentence == waits.words and first.fix.endswith("slipway quota")
    assert one.notices[0].shape != more.notices[0].shape
    assert told(due(dormant=[replace(waits, lacks=None)])) == [], "its season has yet to begin"


def test_drift_keeps_the_shape_that_it_has() -> None:  # N10
    hand = drift(Subject("bucket", "acme-work"), "lifecycle", "it deletes objects after 3 days", Then.PUT_BACK)
    one = changed(hand)
    assert told(one) == [("drift", "stack")]
    assert one.notices[0].shape == drift_document("prod", Drifted((hand,), ()))["shape"]
    assert one.notices[0].lines[0].sentence == f"bucket acme-work: {hand.sentence}"
    assert changed(unread=("policies",)).looked == frozenset(), "what was not compared may differ"
    assert changed().looked == {("drift", "prod")}


def test_what_an_adopted_clusters_owner_did_is_not_said_to_be_put_back() -> None:  # N10, N13
    (notice,) = changed(
        drift(Subject("cluster", "team-a"), "pools.workers.replicas.max", "it has 9", Then.REFUSES)
    ).notices
    (line,) = notice.lines
    assert "no deployment" in line.fix and "puts it back" not in line.fix


class TestUp:
    """What a deployment had no machines for, from the findings that its creation wrote."""  # N2

    @staticmethod
    def told(*findings: Finding) -> Notices:
        return of_document(json.loads(json.dumps(findings_document("prod", ["stock-out"], findings))), "up.json")

    def test_a_cluster_that_up_gave_up_is_told_with_its_reason(self) -> None:
        error = Story([OPERATION], [failed(), failed(), gone()] * 50).fails()
        one = self.told(*error.found)
        name = NEW.spec.name
        assert told(one) == [("stock-out", name)] and one.looked == {("stock-out", "prod")}
        assert one.notices[0].title == f"prod: cluster {name} can't be made"
        first = one.notices[0].lines[0]
        assert NEW.id in first.sentence and error.why in first.sentence
        assert first.fix.endswith("stacks/Pulumi.prod.yaml") and "another region (alternatives)" in first.fix

    def test_each_alternative_s_reason_is_told(self) -> None:
        steps = [failed(), failed(), gone()] * 50
        error = Story([OPERATION], steps).fails(new=OPEN, refused=0)
        (notice,) = self.told(*error.found).notices
        reasons = error.why.splitlines()
        assert [OPEN.id, *(one.id for one in OTHERS)] == [one.split()[0].rstrip(",") for one in reasons]
        begins = f"cluster `{OPEN.id}` could not be made, nor could any of its 2 alternatives: "
        assert notice.lines[0].sentence == begins + "; ".join(one.rstrip(".") for one in reasons)

    def test_what_no_machines_would_mend_is_none(self) -> None:
        assert Story([unanswered()], [gone()]).fails().found == ()

    def test_where_all_clusters_run_it_is_over(self) -> None:
        assert self.told() == Notices(looked=frozenset({("stock-out", "prod")}))


def test_what_is_written_is_read_and_the_first_of_two_counts() -> None:
    whole = due(ends(5)) + found(OLD.of(Subject("cluster", "a"), "it retires", "wait", "for the job"))
    again = of_document({"kind": "notices", **codec.document(whole)}, "notices.json")
    assert again == whole and again + whole == whole
    of_machines = {"stock-out", "deployment-stopped", "season-awaits-quota", "season-ends"}
    assert set(KINDS) == {*of_machines, "doctor", "retiring-overdue", "drift"}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ([], "it is of the kind None"),
        ({"kind": "pools"}, "it is of the kind 'pools'"),
        ({"kind": "doctor"}, "lacks 'stack'"),
        ({"kind": "schedule", "stack": "dev", "time": "today", "due": []}, "Invalid isoformat"),
        ({"kind": "notices", "notices": [{"kind": "praise"}], "lookedAt": []}, "praise"),
    ],
)
def test_what_is_no_document_is_refused(body: Any, why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        of_document(body, "told.json")
    assert why in str(refused.value)


class TestScheduledRun:
    @staticmethod
    def job(conclusion: str, *failed: str, stack: str = "prod", url: str = "https://run/1") -> dict[str, Any]:
        steps = [{"name": "Set up job", "conclusion": "success"}]
        steps += [{"name": name, "conclusion": "failure"} for name in failed]
        return {"name": f"up ({stack}) / up", "conclusion": conclusion, "html_url": url, "steps": steps}

    def test_where_it_stopped_is_told_once_however_often_it_is_tried(self) -> None:
        one = of_run([self.job("failure", "Up")], Notices(), "a run by hand")
        assert one.notices[0].lines[0].sentence.endswith(" prod stopped at Up")
        again = of_run([self.job("failure", "Up", url="https://run/2")], Notices(), "a run by hand")
        assert one.notices[0].shape == again.notices[0].shape and told(one) == [("deployment-stopped", "schedule")]
        more = of_run([self.job("failure", "Announced")], Notices(), "a run by hand")
        assert more.notices[0].lines[0].sentence.endswith("what was announced")
        assert more.notices[0].shape != one.notices[0].shape

    def test_one_that_went_well_is_over_and_of_one_that_was_cancelled_nothing_is_known(self) -> None:
        jobs = [self.job("success"), self.job("cancelled", stack="dev"), {"name": "else", "conclusion": "failure"}]
        jobs.append({"name": "up (staging)", "conclusion": "cancelled"})  # Before it had its turn: a later one took it.
        assert of_run(jobs, Notices(), "a run by hand") == Notices(looked=frozenset({("deployment-stopped", "prod")}))
