"""A season to come is prepared: its quota is looked at, asked for and told of before its day. # B6 # D2 # Z2"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from slipway import codec
from slipway.cli.terminal.documents import dates_document
from slipway.cloud.quotas import QuotaPreference
from slipway.deployment.deployment import Deployment
from slipway.deployment.published_schedule import upcoming
from slipway.deployment.schedule import Due
from slipway.findings.finding import Grade
from slipway.live import Live, QuotaLimit, Unknown
from slipway.notices.notice import Notices, of_document
from slipway.quota.increases import all_short
from slipway.quota.report import table
from slipway.quota.seasons import judge
from slipway.review.preview_text import preview_text
from slipway.state import State
from tests.slipway.doctor.picture import found
from tests.slipway.doctor.picture import published as seen_as_published

from .test_season_quota import NOW, Story, proven

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


def story(mode: str = "enforce", *entries: str, gpus: int = 1) -> FiveDays:
    made = FiveDays(proven(TWO, *entries, quota=f"mode: {mode}"), now=NOW)
    made.gpus = gpus
    return made


def previewed(made: Story) -> str:
    done = made.decided(preview=True)
    return "\n".join(preview_text(done, State(), made.now, preview=True))


def requests(done: Deployment) -> dict[str, int]:
    return {one.metric: one.value for one in done.report.requests}


def test_a_preview_and_an_up_say_that_it_is_not_ready_and_hold_up_nothing() -> None:
    made = story()
    assert f"2026-11-26, is not ready, because {LACKS}" in previewed(made)
    done = made.up()
    assert not done.report.errors and not done.facts.quota.lines
    assert f"until 2026-11-26; not ready, because {LACKS}" in previewed(made), "and on the days before"
    made.gpus = 2
    assert "until 2026-11-26; ready" in previewed(made)


def test_where_more_is_asked_for_it_is_asked_for_at_once_and_the_answer_told() -> None:
    made = story("request")
    assert f"{LACKS}this deployment asks for 2)" in previewed(made)
    assert requests(made.up()) == {GPUS: 2}
    for answer, outlook in ((PENDING, "asked for 2: pending"), (HOPELESS, "asked for 2: nothing granted (quota is")):
        made.preferences = {QUOTA: answer}
        assert f"{LACKS}{outlook}" in previewed(made)
    made.gpus, made.preferences = 2, {QUOTA: replace(PENDING, reconciling=False, granted=2)}
    assert "until 2026-11-26; ready" in previewed(made)


def test_two_that_take_turns_are_ready() -> None:
    turn = "one: { pools: { all: { machine: a2-highgpu-1g, replicas: 2 } }, until: 2026-11-26 }"
    made = story("enforce", turn, gpus=2)
    made.up()
    assert "season until 2026-11-26; ready" in previewed(made)


def test_each_season_is_told_in_the_order_of_their_dates() -> None:
    made = story(
        "enforce",
        TWO.replace("two", "later", 1).replace("2026-11-26", "2026-12-26").replace("replicas: 2", "replicas: 3"),
    )
    made.up()
    report = judge(made.whole, made.seen(), made.now)
    assert [one.subject for one in report.findings] == ["cluster two", "cluster later"]
    (line,) = (one for one in report.lines if one.metric == GPUS)
    assert line.verdict.index("2026-11-26") < line.verdict.index("2026-12-26")


def test_quota_has_it_and_asks_for_what_it_takes() -> None:
    made = story()
    made.up()
    report = judge(made.whole, made.seen(), made.now)
    (line,) = (one for one in report.lines if one.metric == GPUS)
    assert (line.now, line.short, line.enough, line.state) == (0, 0, 2, "tight"), "it draws nothing yet"
    assert "by 1 from 2026-11-26 on" in table(report)
    assert [(one.metric, one.preference.preferred) for one in all_short(report.lines, made.seen())] == [(GPUS, 2)]
    (told,) = report.findings
    assert (told.kind, told.subject, told.grade) == ("season-awaits-quota", "cluster two", Grade.WARNING)
    made.gpus = 2
    ready = judge(made.whole, made.seen(), made.now)
    assert not ready.findings and GPUS in {one.metric for one in ready.lines}


def schedule(made: Story) -> tuple[Due, Notices]:
    (due,) = upcoming(made.whole, made.seen(), made.now)
    body = {"kind": "schedule", "stack": "dev", "time": made.now, **dates_document([due], [], made.now)}
    return due, of_document(codec.document(body), "schedule.json")


def test_the_schedule_and_a_notice_say_that_it_is_not_ready_until_it_is() -> None:
    made = story()
    made.up()
    due, told = schedule(made)
    assert due.what == "season-begins" and due.why.startswith(f"not ready, because {LACKS}")
    assert due.readiness and due.readiness.ready is False
    assert [(one.kind, one.subject) for one in told.notices] == [("season-awaits-quota", "two")]
    shapes = [told.notices[0].shape]
    for answer in (PENDING, HOPELESS):
        made.preferences = {QUOTA: answer}
        shapes.append(schedule(made)[1].notices[0].shape)
    assert len(set(shapes)) == 3, "told anew with each answer"
    made.gpus = 2
    due, told = schedule(made)
    assert due.readiness and due.readiness.ready and due.why.startswith("ready; ") and not told.notices


def test_who_may_read_no_limits_is_told_that() -> None:
    made = story()
    made.up()
    unread = replace(made.seen(), limits=Unknown("denied", "cloudquotas.googleapis.com", "roles/cloudquotas.viewer"))
    (due,) = upcoming(made.whole, unread, made.now)
    assert due.readiness and due.readiness.ready is None and "roles/cloudquotas.viewer" in due.why
    (line,) = (one for one in judge(made.whole, unread, made.now).lines if one.metric == GPUS)
    assert (line.state, line.verdict) == ("unknown", "cannot tell"), "`slipway quota` said that it suffices"


def test_doctor_warns_and_where_the_answer_is_still_to_come_only_notes_it() -> None:
    made = story()
    made.up()

    def told() -> tuple[Grade, str]:
        report = judge(made.whole, made.seen(), made.now)
        one = found(published=seen_as_published(made.whole), clusters=(), jobs=(), quota=report)["season-awaits-quota"]
        return one.grade, one.fix

    grade, fix = told()
    assert grade is Grade.WARNING and f"slipway quota --request {GPUS}=2" in fix
    made.preferences = {QUOTA: PENDING}
    assert told() == (Grade.NOTE, "slipway quota")
    made.preferences = {QUOTA: HOPELESS}
    assert told() == (Grade.WARNING, "slipway quota")
