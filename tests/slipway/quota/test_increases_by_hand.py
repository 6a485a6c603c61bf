"""Quota that a person asks for: `slipway quota --request METRIC[=VALUE]`. # Z2"""

from __future__ import annotations

from dataclasses import replace

import pytest

from slipway.cloud.quotas import QuotaPreference, preference_body
from slipway.errors import ConfigError, PolicyError, ResourceError, SlipwayError
from slipway.live import Increase
from slipway.quota.assessment import assess
from slipway.quota.increases import Ask, all_short, ask_for, parsed
from slipway.quota.report import QuotaRow

from .region import H100, REGION
from .test_increases import ID, NAME, NEW, living, there


def lines(gpus: int) -> tuple[QuotaRow, ...]:
    return assess((NEW,), living(gpus), region=REGION, preview=True).lines


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("nvidia_h100_gpus=16", (H100, 16)),
        (H100, (H100, None)),
        (f"aiplatform.googleapis.com/{H100}=1,024", (H100, 1024)),
        ("nvidia_h100_gpus=-1", (H100, -1)),
    ],
)
def test_a_metric_is_named_in_full_or_by_what_is_its_own(word: str, found: tuple[str, int | None]) -> None:
    assert parsed(word) == found


@pytest.mark.parametrize("word", ["nvidia_h100_gpus=many", "nvidia_h100_gpus="])
def test_a_limit_is_a_number(word: str) -> None:
    with pytest.raises(ConfigError, match="invalid --request"):
        parsed(word)


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


def test_what_was_decided_may_be_asked_for_once_more() -> None:
    denied = there(32, 4, detail="denied")
    assert ask_for("nvidia_h100_gpus=32", lines(4), living(4, denied)).preference.preferred == 32


@pytest.mark.parametrize(
    ("word", "gpus", "increase", "kind", "says"),
    [
        ("nvidia_h100_gpus=4", 8, None, ConfigError, "is no increase"),
        ("nvidia_h100_gpus=-1", -1, None, ConfigError, "is no increase"),
        ("nvidia_h100_gpus", 32, None, ConfigError, "suffices"),
        ("nvidia_h100_gpu=16", 8, None, ConfigError, "no quota custom_model_training_nvidia_h100_gpu"),
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


def test_a_name_that_is_nearly_right_is_corrected() -> None:
    with pytest.raises(ConfigError) as error:
        ask_for("nvidia_h100_gpu=16", lines(8), living(8))
    assert error.value.fix == f"did you mean {H100}?"


def test_quota_elsewhere_is_not_asked_for() -> None:  # N2
    away = tuple(replace(line, region="us-east4", elsewhere=True) for line in lines(4))
    assert all_short(away, living(4)) == []
    with pytest.raises(ConfigError, match="suffices"):
        ask_for("nvidia_h100_gpus", away, living(4))
