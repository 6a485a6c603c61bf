"""Quota that a person asks for: `slipway quota --request METRIC[=VALUE]`. # Z2"""

from __future__ import annotations

from dataclasses import replace

import pytest

from slipway.base.errors import ConfigError, PolicyError, ResourceError, SlipwayError
from slipway.google.live import Increase, Live, QuotaLimit, Unknown
from slipway.google.quota.assessment import assess
from slipway.google.quota.increases import Ask, all_short, ask_for
from slipway.google.quota.report import QuotaRow
from slipway.google.quotas import QuotaPreference, preference_body

from .region import H100, REGION, M, cluster, h100, region
from .test_increases import ID, NAME, NEW, living, there


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
        ("nvidia_h200_gpus=16", "one of cpus, "),
        ("CustomModelServingT4GPUsPerProjectPerRegion=1", "one of cpus, "),
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


@pytest.mark.parametrize("word", ["nvidia_h100_gpus=many", "nvidia_h100_gpus="])
def test_a_limit_is_a_number(word: str) -> None:
    with pytest.raises(ConfigError, match="invalid --request"):
        ask_for(word, lines(8), living(8))


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
        ("nvidia_h100_gpu=16", 8, None, ConfigError, "no quota nvidia_h100_gpu"),
        ("nvidia_h100_gpus=16", 8, Increase.TOO_LITTLE_HISTORY, PolicyError, "no increase of"),
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
