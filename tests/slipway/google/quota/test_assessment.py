"""Assessing whether quota suffices for clusters and offers, in each of their regions."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Increase, Live, QuotaLimit
from slipway.google.quota.assessment import assess
from slipway.google.quota.report import QuotaReport
from slipway.model.cluster import CurrentCluster, PoolSpec
from slipway.model.kinds import PIPELINE, TUNING_JOB
from slipway.model.labels import CAPACITY_TYPE_LABEL
from slipway.model.machines.spec import Disk, MachineSpec
from tests.builders.catalogs import catalog, offer, template

from .region import (
    A3,
    CPUS,
    DENIED,
    H100,
    REGION,
    SPOT,
    SSD,
    M,
    cluster,
    cpu,
    h100,
    job,
    judge,
    region,
    row,
    state,
    wanted,
)


def test_enough_quota_is_quiet() -> None:  # D2
    report = judge(wanted("h100", h100()), live=region())
    assert report.errors == () and report.warnings == ()
    assert row(report, H100) == (8, 32, 32, 0, "ok")
    assert row(report, A3) == (208, 832, -1, 0, "ok")
    assert row(report, SSD) == (500, 2000, 75_000, 0, "ok")


@pytest.mark.parametrize("preview", [True, False])
def test_short_for_what_is_created_names_metric_region_needed_limit_used_and_short_by(preview: bool) -> None:  # D2, N6
    seen = region(nvidia_h100_gpus=8, increase=Increase.TOO_LITTLE_HISTORY)
    report = judge(wanted("h100", h100(2)), live=seen, preview=preview)
    (error,) = report.errors
    for word in (H100, REGION, "creating h100 needs 16", "limit 8", "used 0", "short by 8", "limit of 16"):
        assert word in error
    assert "CustomModelTrainingH100GPUsPerProjectPerRegion" in error and "too little usage history" in error
    assert row(report, H100)[-1] == "short by 8"


def test_only_what_alone_exceeds_its_limit_is_never_made() -> None:
    current, other = wanted("h100", h100(2)), cluster("other", h100(), replicas=1)
    assert judge(current, live=region(nvidia_h100_gpus=8)).never_made == {"h100"}
    assert judge(current, live=region(other, nvidia_h100_gpus=16)).never_made == frozenset()
    assert judge(current, live=region()).never_made == frozenset()


def test_no_more_is_asked_for_of_a_fixed_quota() -> None:  # N6
    (error,) = judge(wanted("h100", h100(2)), live=region(nvidia_h100_gpus=8, increase=Increase.FIXED)).errors
    assert "can't be raised" in error and "ask for" not in error and "lower `replicas`" in error


def test_gpus_cpus_and_disks_are_all_held_against_their_limits() -> None:  # N6
    live = region(nvidia_h100_gpus=0, a3_cpus=100, pd_ssd=499)
    errors = judge(wanted("h100", h100()), live=live).errors
    assert [error.split(" ")[1] for error in errors] == [H100, A3, SSD]


def test_live_machines_of_all_clusters_count_retiring_ones_too() -> None:  # D2: deletes come last
    clusters = cluster("h100-0000000", h100(), replicas=3), cluster("h100-9999999", h100(), replicas=1)
    live = replace(region(*clusters), catalog=PublishedCatalog({"h100": "h100-0000000"}))
    (error,) = judge(wanted("h100", h100()), live=live).errors
    assert "used 32" in error and "short by 8" in error
    assert "h100-0000000" in error and "revert the edit" in error  # N1: a rollover needs both for a while
    assert "h100-9999999" not in error  # another stack's


@pytest.mark.parametrize(
    ("state", "counts"), [("PROVISIONING", 8), ("UPDATING", 8), ("REBOOTING", 8), ("STOPPING", 8), ("ERROR", 0)]
)
def test_a_failed_cluster_holds_no_machines(state: str, counts: int) -> None:  # N2
    assert row(judge(wanted("h100", h100()), live=region(cluster("x", h100(), state=state))), H100)[3] == counts


@pytest.mark.parametrize(
    ("one", "counts"),
    [
        (job(h100(), 1), 8),
        (job(h100(), 1, state="JOB_STATE_PENDING"), 8),
        (job(h100(), 1, kind=TUNING_JOB), 8),
        (job(h100(), 1, state="JOB_STATE_QUEUED"), 0),
        (job(h100(), 1, spot=True), 0),
        (job(h100(), 1, on="some-cluster"), 0),
        (job(h100(), 1, kind=PIPELINE), 0),
        (job(h100(), 1, labels={CAPACITY_TYPE_LABEL: "reservation"}), 0),
    ],
)
def test_jobs_beside_the_pools_count_once(one, counts: int) -> None:  # type: ignore[no-untyped-def] # D2
    assert row(judge(wanted("h100", h100()), live=region(jobs=(one,))), H100)[3] == counts


# Ceilings.


def test_a_pool_that_cannot_reach_its_maximum_is_reported_and_with_strict_an_error() -> None:  # B2, N6
    live = region(cluster("other", h100(), replicas=2))
    report = judge(wanted("h100", h100()), live=live)
    assert report.errors == ()
    (warning,) = report.findings
    assert warning.kind == "quota-short-at-most" and "2 of 4 machines" in warning.sentence
    assert row(report, H100)[:4] == (8, 32, 32, 16)
    assert state(report, H100) == ("tight", [2, 4])
    strict = judge(wanted("h100", h100()), live=live, strict=True)
    assert strict.errors == report.warnings and strict.warnings == ()


def test_no_less_than_nothing_can_be_had_where_others_use_more_than_a_limit() -> None:  # N6
    """A preview said `-8 can be had`, where the review of the same stack said that there are none."""
    live = region(cluster("h100-1a2b3c4", h100()), cluster("other", h100(), replicas=5))
    (warning,) = judge(wanted("h100", h100(), lives=True), live=live).warnings
    assert ", 0 can be had (40 are used by others): at most 0 of 4 machines" in warning


def test_a_rollover_without_room_is_said() -> None:  # N1
    live = region(cluster("h100-1a2b3c4", h100(4), replicas=4))
    report = judge(wanted("h100", h100(4), lives=True), live=live)
    assert state(report, H100) == ("tight", []) and "rollover" in row(report, H100)[-1]
    assert report.errors == () and row(report, H100)[:4] == (32, 32, 32, 0), "what lives draws nothing anew"


# Old generations of this stack: they live beside what is made now, and are gone when the ceiling is reached.

OLD = frozenset({"h100-0000000"})


def test_an_old_generation_is_the_stacks_own_and_counts_for_what_is_made_now() -> None:  # D2: deletes come last
    live = region(cluster("h100-0000000", h100(), replicas=3), cluster("lab", h100(), replicas=1))
    report = judge(wanted("h100", h100()), live=live, old=OLD)
    (line,) = (line for line in report.lines if line.metric == H100)
    assert (line.retiring, line.others, line.enough) == (24, 8, 40)
    (error,) = report.errors
    assert "used 32" in error and "short by 8" in error
    assert "edit first, which deletes h100-0000000" in error
    assert "lab" not in error


def test_an_old_generation_that_is_too_small_to_make_room_is_no_way_out() -> None:  # N6
    """Without its 8 GPUs 16 are still missing: letting it go first would be refused again."""
    live = region(cluster("h100-0000000", h100(), replicas=1), cluster("lab", h100(), replicas=3))
    (error,) = judge(wanted("h100", h100(3)), live=live, old=OLD).errors
    assert "short by 24" in error and "h100-0000000" not in error and "a limit of 56" in error


def test_room_for_a_rollover_comes_when_the_old_generation_goes() -> None:  # N1
    living = cluster("h100-1a2b3c4", h100(1, 3)), cluster("h100-0000000", h100(), replicas=3)
    report = judge(wanted("h100", h100(1, 3), lives=True), live=region(*living), old=OLD)
    assert report.warnings == ()
    assert row(report, H100)[:4] == (8, 24, 32, 0)
    assert state(report, H100) == ("tight", []) and row(report, H100)[-1].endswith("until what retires is gone")
    assert judge(wanted("h100", h100(1, 3), lives=True), live=region(*living), old=OLD, strict=True).errors == ()
    foreign = judge(wanted("h100", h100(1, 3), lives=True), live=region(*living))
    assert row(foreign, H100)[3] == 24 and state(foreign, H100) == ("tight", [1, 3])


# Ways.


@pytest.mark.parametrize(
    "live",
    [
        Live((), (), DENIED, None),
        Live(DENIED, (), region().limits, None),
        Live((), DENIED, region().limits, None),
        Live((), (), {}, None),
    ],
    ids=["limits", "clusters", "jobs", "not listed"],
)
def test_cannot_tell_warns_in_preview_and_stops_an_up_that_draws(live: Live) -> None:  # D2, P5
    up = judge(wanted("h100", h100()), live=live)
    assert any("cannot tell" in error for error in up.errors)
    preview = judge(wanted("h100", h100()), live=live, preview=True)
    assert preview.errors == () and any("cannot tell" in warning for warning in preview.warnings)
    assert judge(wanted("h100", h100()), live=live, mode="warn").errors == ()
    assert judge(wanted("h100", h100(), lives=True), live=live).errors == ()  # It draws nothing: nothing to be told.


def test_an_offer_that_cannot_be_judged_stays_and_says_so() -> None:  # P5: never a refusal
    (warning,) = judge(wanted("h100", h100()), live=Live((), (), DENIED, None), preview=True).warnings
    assert "cloudquotas.googleapis.com" in warning and "roles/cloudquotas.viewer" in warning
    name = judge(live=Live((), (), DENIED, None), offers=(SPOT,), preview=True).offers["train"]["spot"]
    assert name.available and name.why.startswith("quota not checked: ")


@pytest.mark.parametrize("preview", [True, False])
def test_an_offer_that_was_short_stays_so_where_quota_can_not_be_read(preview: bool) -> None:  # P5
    """Unreadable quota is no good news: nothing is published as if it had come."""
    short = template("train", offer("spot", available=False, why="quota: short by 7", lacks_quota=True))
    live = Live((), (), DENIED, PublishedCatalog(whole=catalog(short)))
    report = judge(live=live, offers=(SPOT,), preview=preview)
    spot = report.offers["train"]["spot"]
    assert not spot.available and spot.lacks_quota
    assert "was short when it could last be read" in spot.why and str(DENIED) in spot.why
    (warning,) = report.warnings
    assert report.errors == () and "cannot tell whether quota in us-central1 suffices" in warning
    had = replace(live, catalog=PublishedCatalog(whole=catalog(template("train", offer("spot")))))
    assert judge(live=had, offers=(SPOT,), preview=preview).offers["train"]["spot"].available


def test_an_inferred_metric_that_is_not_listed_is_not_held_against_anybody() -> None:
    b200 = PoolSpec("w", MachineSpec("a4-highgpu-8g", "NVIDIA_B200", 8, Disk("hyperdisk-balanced", 100)), 1, 2, True, 1)
    report = judge(wanted("b200", b200), live=region(nvidia_b200_gpus=16))
    assert report.errors == ()
    assert row(report, f"{M}nvidia_b200_gpus")[-1] == "ok"
    assert row(report, f"{M}a4_cpus")[-1].startswith("not checked")
    assert any("A4 vCPUs are not checked" in warning for warning in report.warnings)
    assert any("no quota of hyperdisks" in warning for warning in report.warnings)


def test_a_machine_that_the_table_does_not_have_is_said_not_to_count() -> None:
    alien = PoolSpec("w", MachineSpec("z9-quantum-1"), 1, 2, True, 1)
    report = judge(wanted("cpu", cpu()), live=region(cluster("lab", alien)))
    assert any("cluster lab is not counted" in warning for warning in report.warnings)


def test_nothing_read_on_purpose_is_one_warning() -> None:
    live = Live(DENIED, DENIED, DENIED, DENIED, skipped=True)
    report = judge(wanted("h100", h100()), live=live, preview=True)
    (warning,) = report.warnings
    assert REGION in warning and warning.endswith(": nothing was read")
    assert {line.verdict for line in report.lines} == {"cannot tell"}


def test_warn_says_everything_and_stops_nothing() -> None:  # D2
    live = region(nvidia_h100_gpus=0)
    report = judge(wanted("h100", h100()), live=live, offers=(SPOT,), mode="warn", strict=True)
    assert report.errors == ()
    assert any("short by 8" in warning for warning in report.warnings)
    assert "no-offer-left" in {finding.kind for finding in report.findings}


@given(
    limit=st.integers(-1, 200),
    others=st.integers(0, 8),
    pools=st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=1, max_size=3),
)
def test_an_error_means_exactly_that_created_and_living_exceed_the_limit(  # D2
    limit: int, others: int, pools: list[tuple[int, bool]]
) -> None:
    current = tuple(wanted(f"c{n}", cpu(size), lives=lives) for n, (size, lives) in enumerate(pools))
    alive = [cluster(item.id, *item.spec.pools, replicas=item.spec.pools[0].min) for item in current if item.import_]
    live = region(*alive, cluster("other", cpu(), replicas=others), cpus=limit)
    report = judge(*current, live=live)
    total = 8 * (others + sum(size for size, _ in pools))
    creates = any(not lives for _, lives in pools)
    short = creates and limit != -1 and total > limit
    assert [error for error in report.errors if CPUS in error] == list(report.errors)
    assert bool(report.errors) == short
    if short:
        assert f"short by {total - limit:,}" in report.errors[0]


FAR = "europe-west4"


def far(current: CurrentCluster) -> CurrentCluster:
    return replace(current, spec=replace(current.spec, region=FAR, alternative=1))


def live(there: int) -> Live:
    """A cluster of somebody else's takes 8 CPUs elsewhere, another one 16 at home."""
    theirs = replace(cluster("theirs", cpu()), name=f"projects/1/locations/{FAR}/persistentResources/theirs")
    limits = {metric: QuotaLimit(metric, FAR, most) for metric, most in ((CPUS, there), (SSD, 75_000))}
    return replace(region(cluster("others", cpu(), replicas=2), theirs), limits_elsewhere={FAR: limits})


def judged(*current: CurrentCluster, live: Live, mode: str = "enforce") -> QuotaReport:
    return assess(current, live, region=REGION, preview=False, mode=mode)


def test_a_cluster_elsewhere_is_held_against_the_limits_there() -> None:
    report = judged(far(wanted("cpu", cpu())), live=live(15))
    (error,) = report.errors
    assert f"{CPUS} in {FAR} is short by 1" in error
    (line,) = [listed for listed in report.lines if listed.metric == CPUS]
    assert (line.region, line.key, line.now, line.others) == (FAR, f"{CPUS} in {FAR}", 8, 8)
    assert judged(far(wanted("cpu", cpu())), live=live(16)).errors == ()


def test_what_is_drawn_elsewhere_is_not_drawn_at_home() -> None:
    here, there = wanted("here", cpu()), far(wanted("there", cpu()))
    report = judged(here, there, live=live(100))
    rows = {line.key: (line.now, line.others) for line in report.lines if line.metric == CPUS}
    assert rows == {CPUS: (8, 16), f"{CPUS} in {FAR}": (8, 8)}


def test_elsewhere_nothing_is_asked_for_and_lack_is_an_error() -> None:
    report = judged(far(wanted("cpu", cpu())), live=live(8), mode="request")
    assert report.requests == () and len(report.errors) == 1


def test_limits_that_can_not_be_read_elsewhere_stop_what_is_made_there() -> None:
    unread = replace(live(8), limits_elsewhere={FAR: DENIED})
    (error,) = judged(far(wanted("cpu", cpu())), live=unread).errors
    assert error.startswith("cannot tell") and f"in {FAR} " in error
