"""More quota asked for: what a stack declares, what became of it, what waits for it, and what a person asks for with
`slipway quota --request METRIC[=VALUE]`. # Z2 # N6 # D2 # W6"""

import re
from dataclasses import replace
from typing import Any

import pytest

from slipway.base.errors import ConfigError, PolicyError, ResourceError, SlipwayError
from slipway.google.live import Increase, Live, QuotaLimit, Unknown
from slipway.google.quota.assessment import assess
from slipway.google.quota.increases import Ask, all_short, ask_for, became_of, preference_id
from slipway.google.quota.report import OfferDraw, QuotaReport, QuotaRow, quota_text
from slipway.google.quota.request import QuotaRequest, Requested
from slipway.google.quotas import QuotaPreference, preference_body
from slipway.model.cluster import CurrentCluster
from slipway.model.machines.spec import MachineGroup
from slipway.model.state import StatePreference

from .region import CPUS, DENIED, H100, REGION, SPOT, SPOT_CPUS, SPOT_H100, M, cluster, cpu, h100, region, wanted

ID = "CustomModelTrainingH100GPUsPerProjectPerRegion"
NAME = preference_id(ID, REGION)
NEW = wanted("h100", h100())
"""A cluster that is to be made: 8 GPUs now, 32 at most."""


def there(preferred: int, granted: int | None = None, *, id: str = NAME, **state: Any) -> QuotaPreference:
    return QuotaPreference(id, ID, REGION, preferred, granted, **state)


def living(gpus: int, *preferences: QuotaPreference, increase: Increase = Increase.POSSIBLE) -> Live:
    found = region(increase=increase, nvidia_h100_gpus=gpus)
    return replace(found, preferences={preference.quota_id: preference for preference in preferences})


def judged(live: Live, *known: StatePreference, strict: bool = False, mode: str = "request") -> QuotaReport:
    return assess((NEW,), live, region=REGION, mode=mode, strict=strict, preview=False, known=known)


def ours(preferred: int, id: str = NAME) -> StatePreference:
    return StatePreference(id, ID, REGION, preferred)


# What is declared.


def test_what_is_short_is_asked_for_under_a_name_that_stays() -> None:
    (asked,) = judged(living(4)).requests
    assert asked == QuotaRequest(H100, REGION, ID, NAME, value=32, wanted=32)
    assert (asked.sends, asked.adopts, asked.open) == (True, False, True)
    assert f"aiplatform_googleapis_com-{ID}_us-central1" == NAME


@pytest.mark.parametrize(("gpus", "mode"), [(4, "enforce"), (4, "warn"), (32, "request"), (-1, "request")])
def test_what_suffices_is_not_asked_for_nor_anything_in_the_other_modes(gpus: int, mode: str) -> None:
    assert judged(living(gpus), ours(16) if gpus == 4 else ours(0), mode=mode).requests == ()


def test_others_use_is_added() -> None:
    increase = replace(living(32), clusters=(cluster("lab", h100(), replicas=2),))
    assert [request.value for request in judged(increase).requests] == [48]


def test_what_was_granted_stays_declared() -> None:
    """It can't be deleted; a deployment that forgot it would adopt it again when it is short once more."""
    (kept,) = judged(living(32, there(32, 32)), ours(32)).requests
    assert (kept.value, kept.sends, kept.adopts) == (32, False, False)


def test_it_is_let_go_with_the_last_pool_that_draws_it() -> None:
    live = living(32, there(32, 32))
    report = assess((wanted("cpu", cpu()),), live, region=REGION, mode="request", preview=False, known=(ours(32),))
    assert report.requests == ()


def test_a_higher_request_is_never_lowered() -> None:
    for known in ((), (ours(64),), (ours(24),)):  # Somebody has raised it by hand in the last case.
        (asked,) = judged(living(16, there(64, 16, reconciling=True)), *known).requests
        assert (asked.value, asked.sends) == (64, False)


def test_ours_is_raised_when_more_is_needed() -> None:
    (asked,) = judged(living(8, there(8, 8)), ours(8)).requests
    assert (asked.value, asked.sends, asked.adopts) == (32, True, False)


def test_what_others_use_raises_ours_only_where_nothing_goes_on_without() -> None:
    """Else a job of somebody's beside the pools would raise the limit for good."""
    here = wanted("h100", h100(), lives=True)
    own, lab = cluster(here.id, h100()), cluster("lab", h100(), replicas=2)
    granted = replace(living(32, there(32, 32)), clusters=(own, lab))

    def asked(*current: CurrentCluster, live: Live = granted, strict: bool = False) -> QuotaRequest:
        report = assess(current, live, region=REGION, mode="request", strict=strict, preview=False, known=(ours(32),))
        assert report.errors == ()
        (request,) = report.requests
        return request

    stays = asked(here)
    assert (stays.value, stays.sends, stays.open) == (32, False, False)
    assert (asked(NEW).value, asked(NEW).sends) == (32, False), "there is room for what is made"
    more = wanted("h100", h100(high=5), lives=True)
    assert (asked(more).value, asked(more).sends) == (56, True), "the pools' own maximum has grown"
    full = replace(granted, clusters=(own, cluster("lab", h100(), replicas=3)))
    spare = wanted("spare", h100(low=1, high=1))
    assert asked(replace(here, spec=replace(here.spec, pools=(h100(high=3),))), spare, live=full).value == 56
    assert asked(here, strict=True).value == 48, "it would be refused"


def test_somebody_elses_is_adopted_as_it_is_and_raised_by_the_next_deployment() -> None:
    """The engine takes over only what is as declared."""
    (asked,) = judged(living(8, there(8, 8, id="by-hand"))).requests
    assert (asked.id, asked.value, asked.adopts, asked.sends, asked.open) == ("by-hand", 8, True, False, True)
    (then,) = judged(living(8, there(8, 8, id="by-hand")), ours(8, "by-hand")).requests
    assert (then.id, then.value, then.adopts, then.sends) == ("by-hand", 32, False, True)


def test_one_of_which_nobody_can_tell_is_left_as_the_engine_has_it() -> None:
    for unread in (replace(living(4), preferences=DENIED), replace(living(4), skipped=True)):
        assert judged(unread).requests == ()
        (kept,) = judged(unread, ours(16)).requests
        assert (kept.value, kept.sends, kept.adopts) == (16, False, False)
    found = judged(replace(living(4), preferences=DENIED)).findings
    assert ("quota-unknown", "quota requests") in {finding.key for finding in found}


def test_pools_and_offers_that_draw_the_same_ask_once_for_the_most() -> None:
    big = OfferDraw("train", "on-demand", "on-demand", (MachineGroup(h100().machine, 6),))
    report = assess((NEW,), living(4), region=REGION, offers=(big,), mode="request", preview=False)
    assert [(request.metric, request.value) for request in report.requests] == [(H100, 48)]


def test_an_offer_asks_for_the_preemptible_quota_of_gpu_and_cpus() -> None:  # W6
    live = region(increase=Increase.POSSIBLE, preemptible_nvidia_h100_gpus=0)
    report = assess((), live, region=REGION, offers=(SPOT,), mode="request", preview=False)
    assert {request.metric: request.value for request in report.requests} == {SPOT_H100: 8, SPOT_CPUS: 208}
    assert report.errors == (), "the template can run once that is granted"
    (said,) = (warning for warning in report.warnings if "can't run by any" in warning)
    assert "short by 207" in said


def test_the_services_own_id_counts() -> None:
    """For CPUs and disks no pattern is known."""
    listed = {CPUS: QuotaLimit(CPUS, REGION, 8, Increase.POSSIBLE, "TheirCPUs")}
    live = replace(region(), limits={**listed, f"{M}pd_ssd": QuotaLimit(f"{M}pd_ssd", REGION, -1)})
    report = assess((wanted("cpu", cpu()),), live, region=REGION, mode="request", preview=False)
    assert [(request.quota_id, request.value) for request in report.requests] == [("TheirCPUs", 32)]


# What stops a deployment, and what waits.


def test_clusters_wait_for_what_is_asked_for_and_the_rest_goes_on() -> None:
    report = judged(living(4))
    assert report.errors == ()
    assert report.awaited == {H100: 8}, "what is made now, not the maximum"
    (said,) = (finding for finding in report.findings if finding.kind == "quota-short-now")
    assert "h100 needs 8, limit 4" in said.sentence and not said.fix


@pytest.mark.parametrize("granted", [4, 0])
def test_what_was_not_granted_stops_it_as_without_a_request(granted: int) -> None:
    report = judged(living(granted, there(32, granted, detail="denied")), ours(32))
    assert len(report.errors) == 1 and f"is short by {8 - granted}:" in report.errors[0]
    assert report.errors[0].endswith(f"32: {granted or 'nothing'} granted (denied)"), "in place of the hope"
    assert report.awaited == {}


@pytest.mark.parametrize("why", [Increase.TOO_LITTLE_HISTORY, Increase.FIXED])
def test_what_can_not_be_raised_stops_it(why: Increase) -> None:
    report = judged(living(4, increase=why))
    assert (report.requests, len(report.errors)) == ((), 1)
    assert report.lines[0].requested == Requested("hopeless", None, None, why)


def test_one_that_is_short_of_two_stops_where_one_of_them_can_not_be_had() -> None:
    live = living(4)
    assert not isinstance(live.limits, Unknown)
    a3 = QuotaLimit(f"{M}a3_cpus", REGION, 8, Increase.IMPOSSIBLE)
    report = judged(replace(live, limits={**live.limits, a3.metric: a3}))
    assert [error.split()[1] for error in report.errors] == [a3.metric]


def test_with_strict_the_maximum_is_waited_for() -> None:
    report = judged(living(16), strict=True)
    assert (report.errors, report.awaited) == ((), {H100: 32})
    assert len(judged(living(16), strict=True, mode="enforce").errors) == 1


def test_nothing_waits_where_nothing_is_made() -> None:
    here = wanted("h100", h100(), lives=True)
    live = replace(living(16), clusters=(cluster(here.id, h100()),))
    report = assess((here,), live, region=REGION, mode="request", strict=True, preview=False)
    assert (report.awaited, [request.value for request in report.requests]) == ({}, [32])


# What people read.


@pytest.mark.parametrize(
    ("preference", "state", "words"),
    [
        (there(32, None, reconciling=True), "pending", "asked for 32: pending"),
        (there(32, 32), "granted", "asked for 32: granted"),
        (there(-1, -1), "granted", "asked for no limit: granted"),
        (there(32, 16, detail="scarce."), "partly", "asked for 32: 16 granted (scarce.)"),
        (there(-1, 16), "partly", "asked for no limit: 16 granted (the service gives no reason)"),
        (there(32, 0, detail="denied"), "hopeless", "asked for 32: nothing granted (denied)"),
        (there(32, None), "hopeless", "asked for 32: nothing granted (the service gives no reason)"),
    ],
)
def test_what_became_of_a_request(preference: QuotaPreference, state: str, words: str) -> None:
    increase = became_of(preference)
    assert (increase.state, str(increase)) == (state, words)


@pytest.mark.parametrize(
    ("live", "mode", "verdict"),
    [
        (living(4), "request", "short by 4 · this deployment asks for 32"),
        (living(4, there(32, 4, reconciling=True)), "enforce", "short by 4 · asked for 32: pending"),
        (
            living(16, there(32, 16, detail="scarce")),
            "enforce",
            "ok now; at most 2 of 4 machines · asked for 32: 16 granted (scarce)",
        ),
        (living(32, there(32, 32)), "enforce", "ok · asked for 32: granted"),
        (
            living(4, increase=Increase.TOO_LITTLE_HISTORY),
            "enforce",
            "short by 4 · no increase: too little usage history",
        ),
    ],
)
def test_the_table_says_so(live: Live, mode: str, verdict: str) -> None:
    (row,) = (line for line in quota_text(judged(live, mode=mode)).splitlines() if "H100 GPUs" in line)
    assert " ".join(row.split()).endswith(f" 0 {verdict}")


def lines(gpus: int) -> tuple[QuotaRow, ...]:
    return assess((NEW,), living(gpus), region=REGION, preview=True).lines


T4, SPOT_T4 = f"{M}nvidia_t4_gpus", f"{M}preemptible_nvidia_t4_gpus"


def listing() -> Live:
    """A region with what the service lists beside the quotas that this stack draws."""
    ids = {
        T4: "",
        SPOT_T4: "",
        f"{M}nvidia_a100_gpus": "",
        f"{M}nvidia_a100_80gb_gpus": "",
        f"{M}preemptible_nvidia_a100_gpus": "",
        f"{M}n2_cpus": "CustomModelTrainingN2CPUsPerProjectPerRegion",
        f"{M}nvidia_b300_gpus": "CustomModelTrainingB300GPUsPerProjectPerRegion",
    }
    live = region(increase=Increase.POSSIBLE)
    assert not isinstance(live.limits, Unknown)
    more = {metric: QuotaLimit(metric, REGION, 1, Increase.POSSIBLE, id_) for metric, id_ in ids.items()}
    return replace(live, limits={**live.limits, **more})


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("nvidia_h100_gpus=64", (H100, 64)),
        (H100, (H100, 40)),
        (f"aiplatform.googleapis.com/{H100}=1,024", (H100, 1024)),
        ("nvidia_h100_gpus=-1", (H100, -1)),
        ("h100_gpus=64", (H100, 64)),
        ("CustomModelTrainingPreemptibleT4GPUsPerProjectPerRegion=8", (SPOT_T4, 8)),
        ("customModelTrainingN2CPUsPerProjectPerRegion=8", (f"{M}n2_cpus", 8)),
        ("CustomModelTrainingB300GPUsPerProjectPerRegion=8", (f"{M}nvidia_b300_gpus", 8)),
        ("preemptible_t4_gpus=8", (SPOT_T4, 8)),
    ],
)
def test_a_quota_is_named_by_its_metric_or_by_the_id_that_the_console_has(word: str, found: tuple[str, int]) -> None:
    used = replace(listing(), clusters=(cluster("lab", h100(), replicas=1),))
    asked = ask_for(word, assess((NEW,), used, region=REGION, preview=True).lines, used)
    assert (asked.metric, asked.preference.preferred) == found


@pytest.mark.parametrize(
    ("word", "fix"),
    [
        ("T4=8", "--request nvidia_t4_gpus=8 or --request preemptible_nvidia_t4_gpus=8"),
        ("NVIDIA_TESLA_T4", "--request nvidia_t4_gpus or --request preemptible_nvidia_t4_gpus"),
        ("spot_t4_gpus=8", "--request preemptible_nvidia_t4_gpus=8"),
        ("preemptible_t4=8", "--request preemptible_nvidia_t4_gpus=8"),
        ("a100", "nvidia_a100_gpus, --request nvidia_a100_80gb_gpus or --request preemptible_nvidia_a100_gpus"),
        ("A100_80GB=8", "--request nvidia_a100_80gb_gpus=8"),
        ("nvida_h100_gpus=16", "--request nvidia_h100_gpus=16"),
        ("nvidia_h200_gpus=16", "a name that is listed, such as nvidia_h100_gpus, "),
        ("CustomModelServingT4GPUsPerProjectPerRegion=1", "a name that is listed, such as "),
        ("custom_model_training_nvidia_k80_gpus", "a name that is listed, such as "),
        ("B300", "--request nvidia_b300_gpus"),
    ],
)
def test_a_name_that_is_none_gets_the_quotas_of_its_machine_and_never_those_of_another(word: str, fix: str) -> None:
    """The neighbour by letters of T4 were CPUs, which got somebody's request."""
    live = listing()
    with pytest.raises(ConfigError) as error:
        ask_for(word, assess((NEW,), live, region=REGION, preview=True).lines, live)
    assert error.value.what == f"no quota {word.partition('=')[0]}"
    assert fix in error.value.fix and (error.value.fix.startswith(fix) or fix.startswith("nvidia_a100"))
    assert len(re.findall(r"\w+_gpus|\w*cpus|\w+_pd_\w+", error.value.fix)) <= 3, "not all that there are"


def test_without_a_value_what_would_be_enough_is_asked_for() -> None:
    live = living(4)
    new = Ask(H100, 4, QuotaPreference(NAME, ID, REGION, 32))
    assert ask_for("nvidia_h100_gpus", lines(4), live) == new
    assert all_short(lines(4), live) == [new]
    assert all_short(lines(32), living(32)) == []


def test_one_that_is_there_is_changed_and_keeps_its_id_and_etag() -> None:
    before = there(16, 16, id="theirs", etag="e1")
    asked = ask_for("nvidia_h100_gpus=48", lines(16), living(16, before))
    assert asked.preference == QuotaPreference("theirs", ID, REGION, 48, 16, etag="e1")
    assert preference_body(asked.preference, contact="ml@acme.example", justification="") == {
        "service": "aiplatform.googleapis.com",
        "quotaId": ID,
        "dimensions": {"region": REGION},
        "quotaConfig": {"preferredValue": "48"},
        "contactEmail": "ml@acme.example",
        "etag": "e1",
    }


def test_what_is_asked_for_already_is_not_asked_for_again() -> None:
    pending = there(32, 4, reconciling=True)
    assert all_short(lines(4), living(4, pending)) == []
    for word in ("nvidia_h100_gpus", "nvidia_h100_gpus=24"):
        with pytest.raises(ResourceError, match="was asked for already") as error:
            ask_for(word, lines(4), living(4, pending))
        assert error.value.why == "asked for 32: pending"


@pytest.mark.parametrize(
    ("word", "gpus", "increase", "kind", "says"),
    [
        ("nvidia_h100_gpus=4", 8, None, ConfigError, "is no increase"),
        ("nvidia_h100_gpus=-1", -1, None, ConfigError, "is no increase"),
        ("nvidia_h100_gpus", 32, None, ConfigError, "suffices"),
        ("nvidia_h100_gpus=many", 8, None, ConfigError, "invalid --request"),
        ("nvidia_h100_gpus=", 8, None, ConfigError, "invalid --request"),
        ("nvidia_h100_gpus=16", 8, Increase.TOO_LITTLE_HISTORY, PolicyError, "no increase of"),
        ("nvidia_h100_gpus=16", 8, Increase.FIXED, PolicyError, "no increase of"),
    ],
)
def test_what_can_not_be_asked_for(
    word: str, gpus: int, increase: Increase | None, kind: type[SlipwayError], says: str
) -> None:
    live = living(gpus, increase=increase) if increase else living(gpus)
    with pytest.raises(kind) as error:
        ask_for(word, lines(gpus), live)
    assert says in error.value.what
    assert error.value.fix


def test_quota_elsewhere_is_not_asked_for() -> None:  # N2
    away = tuple(replace(line, region="us-east4", elsewhere=True) for line in lines(4))
    assert all_short(away, living(4)) == []
    with pytest.raises(ConfigError, match="suffices"):
        ask_for("nvidia_h100_gpus", away, living(4))
