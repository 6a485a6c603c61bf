"""Steps that deployments take by themselves, when, and what they cost until then; a season to come is prepared.
# B6 D2 Z2"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from syrupy.assertion import SnapshotAssertion

from slipway.deploying.deployment.published_schedule import upcoming
from slipway.deploying.deployment.schedule import Due, schedule
from slipway.deploying.generations.action import Why
from slipway.deploying.generations.dormant import Dormancy
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Live, QuotaLimit, Unknown
from slipway.google.quota.increases import all_short
from slipway.google.quota.report import QuotaReport, QuotaRow
from slipway.google.quota.seasons import judge
from slipway.google.quotas import QuotaPreference
from slipway.model.cluster import ClusterSpec
from slipway.model.findings.finding import Grade
from slipway.model.prices import Price
from slipway.model.season import Season
from slipway.model.state import State
from slipway.reviewing.preview_text import preview_text
from tests.slipway.deploying.generations.test_dormant import CPU, HASH, HOUR, ID, LIMITED, NOW, alive, in_season
from tests.slipway.operating.doctor.picture import found
from tests.slipway.operating.doctor.picture import published as seen_as_published

from .test_season_quota import NOW as TODAY
from .test_season_quota import Story, proven, requests
from .world import REGION, cluster, job, live, planned, remembering


def due(declared: ClusterSpec, seen: Live, now: datetime = NOW) -> list[Due]:
    decided = planned((declared,), seen, now)
    assert not decided.problems
    return list(schedule(decided, seen, REGION, now))


def test_a_season_ends() -> None:
    (event,) = due(in_season(ends=10), alive())
    assert (event.name, event.id, event.what, event.at, event.now) == ("cpu", ID, "season-ends", NOW + 10 * HOUR, False)
    assert event.until(NOW) == event.per_hour * 10
    assert event.words(NOW).split(": ")[1] == "$0.46/h as it is, $4.64 until then" and "in 10 h" in event.words(NOW)
    assert event.words(NOW + 11 * HOUR).startswith("season ends, due 1 h ago: $0.46/h, goes with the next deployment")
    (begins,) = due(in_season(begins=12), live())
    assert (begins.what, begins.at, begins.per_hour) == ("season-begins", NOW + 12 * HOUR, Price())
    assert "$0.46/h idle, $1.86/h at most" in begins.words(NOW) and due(in_season(ends=-1), live()) == []


def test_an_idle_limit_comes_near(snapshot: SnapshotAssertion) -> None:
    (event,) = due(LIMITED, alive(ended=1))
    assert (event.what, event.at) == ("idle-limit", NOW + 3 * HOUR)
    assert event.words(NOW) == snapshot
    assert due(LIMITED, alive(job(ID), ended=1)) == [] == due(CPU, alive())
    for hours, told in ((3, ["season-ends"]), (4, ["idle-limit", "season-ends"])):
        both = replace(CPU, season=Season(None, NOW + hours * HOUR, 4 * HOUR))
        assert [event.what for event in due(both, alive(ended=1))] == told


def test_one_that_still_lives_when_its_season_begins_is_taken_back() -> None:
    """Nothing was said of it but when its season ends, and its jobs seemed to keep an old cluster."""
    declared = in_season(begins=-1, ends=9)
    whole = replace(remembering(Dormancy(declared, ID, "season")), retiring=(ID,))
    seen = alive(job(ID), catalog=PublishedCatalog({}, (ID,), whole=whole))
    back, ends = due(declared, seen)
    assert (back.what, back.now, back.id, ends.what) == ("take-back", True, ID, "season-ends")
    assert back.words(NOW).startswith("is taken back: ")
    assert [event.what for event in due(declared, alive(job(ID)))] == ["season-ends"], "it is offered as it is"


def test_what_the_next_deployment_does_comes_first() -> None:
    (event,) = due(LIMITED, alive(ended=9))
    assert (event.what, event.now, event.at) == ("delete", True, None) and "on 2026-11-20 07:00 UTC" in event.why
    assert event.per_hour.known and event.until(NOW) is None
    made, ends = due(in_season(ends=9), live())
    assert (made.what, made.now, ends.what) == ("create", True, "season-ends")
    failed = live(cluster(ID, HASH, "ERROR"))
    assert [(event.what, event.now) for event in due(CPU, failed)] == [("delete", True), ("create", True)]


def test_what_retires_waits_for_its_jobs() -> None:
    (event,) = due(in_season(ends=-1), alive(job(ID), job(ID, "eval")))
    assert (event.what, event.at, event.now) == ("retire", None, False)
    assert event.words(NOW).endswith("train and eval have ended")
    (unlisted,) = due(in_season(ends=-1), alive(catalog=PublishedCatalog()))
    assert "the deployment after the next" in unlisted.why
    (used,) = due(in_season(ends=-1), alive(used=1))
    assert used.why == Why.IN_USE.words
    late = in_season(ends=-200, retire_within=timedelta(days=7))
    assert due(late, alive(job(ID)))[0].overdue


def test_what_a_killed_deployment_was_making_does_not_retire() -> None:
    """Nobody knows whether the next deployment asks for it."""
    (event,) = due(in_season(ends=-1), live(cluster(ID, HASH, "PROVISIONING")))
    assert (event.what, event.at, event.now) == ("unfinished", None, False)
    assert event.words(NOW).startswith("is unfinished: still being made")
    (rebooting,) = due(in_season(ends=-1), live(cluster(ID, HASH, "REBOOTING")))
    assert rebooting.words(NOW).endswith("while it is REBOOTING")


GPUS, QUOTA = "custom_model_training_nvidia_a100_gpus", "CustomModelTrainingA100GPUsPerProjectPerRegion"
TWO = "two: { pools: { all: { machine: a2-highgpu-1g, replicas: 2 } }, from: 2026-11-26 }"
LACKS = f"quota {GPUS} in us-central1 is short by 1 (limit 1; "
PENDING = QuotaPreference("x", QUOTA, "us-central1", 2, reconciling=True)
HOPELESS = replace(PENDING, reconciling=False, granted=0, detail="quota is scarce")


class FiveDays(Story):
    """Deployed five days before a season that needs two A100s."""

    gpus = 1

    def seen(self) -> Live:
        live = super().seen()
        assert not isinstance(live.limits, Unknown)
        limit = replace(live.limits[GPUS], limit=self.gpus, quota_id=QUOTA)
        limits: Mapping[str, QuotaLimit] = {**live.limits, GPUS: limit}
        return replace(live, limits=limits)


def five_days(mode: str = "enforce", *entries: str, entry: str = TWO) -> FiveDays:
    return FiveDays(proven(entry, *entries, quota=f"mode: {mode}"), now=TODAY)


def judged(made: Story, seen: Live | None = None) -> tuple[QuotaReport, QuotaRow]:
    report = judge(made.whole, seen or made.seen(), made.now)
    (line,) = (difference for difference in report.lines if difference.metric == GPUS)
    return report, line


def previewed(made: Story) -> str:
    done = made.decided(preview=True)
    return "\n".join(preview_text(done, State(), made.now, preview=True))


def test_a_preview_and_an_up_say_that_it_is_not_ready_and_hold_up_nothing() -> None:
    made = five_days()
    assert f"2026-11-26, is not ready: {LACKS}" in previewed(made)
    done = made.up()
    assert not done.report.errors and not done.facts.quota.lines


def test_where_more_is_asked_for_it_is_asked_for_at_once_and_the_answer_told() -> None:
    made = five_days("request")
    assert f"{LACKS}this deployment asks for 2)" in previewed(made)
    assert requests(made.up()) == {GPUS: 2}
    for answer, outlook in ((PENDING, "asked for 2: pending"), (HOPELESS, "asked for 2: nothing granted (quota is")):
        made.preferences = {QUOTA: answer}
        (due,) = upcoming(made.whole, made.seen(), made.now)
        assert f"{LACKS}{outlook}" in due.why


def test_the_schedule_says_that_it_is_not_ready_until_it_is() -> None:
    made = five_days()
    made.up()
    (due,) = upcoming(made.whole, made.seen(), made.now)
    assert due.what == "season-begins" and due.why.startswith(f"not ready, because {LACKS}")
    assert due.readiness and due.readiness.ready is False
    report, line = judged(made)
    assert (line.now, line.short, line.enough, line.state) == (0, 0, 2, "tight"), "it draws nothing yet"
    assert [
        (difference.metric, difference.preference.preferred) for difference in all_short(report.lines, made.seen())
    ] == [(GPUS, 2)]
    made.gpus = 2
    assert not judge(made.whole, made.seen(), made.now).findings
    (due,) = upcoming(made.whole, made.seen(), made.now)
    assert due.readiness and due.readiness.ready and due.why.startswith("quota for its minimum is there; ")
    made = five_days("enforce", TWO.replace("two", "more").replace("11-26", "11-27"))
    made.up()
    _, line = judged(made)
    assert line.verdict == "ok now; short by 1 from 2026-11-26 on; short by 3 from 2026-11-27 on" and line.enough == 4
    made = five_days("enforce", entry=TWO.replace("replicas: 2", "replicas: { min: 1, max: 2 }"))
    made.up()
    assert judged(made)[1].verdict == "ok now; at most 1 of 2 machines from 2026-11-26 on"


def test_who_may_read_no_limits_is_told_that() -> None:
    made = five_days()
    made.up()
    unread = replace(made.seen(), limits=Unknown("denied", "cloudquotas.googleapis.com", "roles/cloudquotas.viewer"))
    (due,) = upcoming(made.whole, unread, made.now)
    assert due.readiness and due.readiness.ready is None and "roles/cloudquotas.viewer" in due.why
    _, line = judged(made, unread)
    assert (line.state, line.verdict) == ("unknown", "cannot tell"), "`slipway quota` said that it suffices"


def test_doctor_warns_and_where_the_answer_is_still_to_come_only_notes_it() -> None:
    made = five_days()
    made.up()

    def told() -> tuple[Grade, str]:
        report = judge(made.whole, made.seen(), made.now)
        finding = found(published=seen_as_published(made.whole), clusters=(), jobs=(), quota=report)[
            "season-awaits-quota"
        ]
        return finding.grade, finding.fix

    grade, fix = told()
    assert grade is Grade.WARNING and f"slipway quota --request {GPUS}=2" in fix
    made.preferences = {QUOTA: PENDING}
    assert told() == (Grade.NOTE, "slipway quota")
    made.preferences = {QUOTA: HOPELESS}
    assert told() == (Grade.WARNING, "slipway quota")
