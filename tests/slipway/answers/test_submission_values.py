"""A changed value of an accepted submission: its text and its severity."""

import pytest

from slipway.answers import submissions as asked
from slipway.answers.answer import Value
from slipway.answers.submission_values import ChangedValue
from slipway.model.findings.finding import Grade
from slipway.model.own_settings import OF_SECRET


def order(before: str, after: str) -> ChangedValue:
    return ChangedValue(asked.ORDER, before, after, is_used=True)


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("pool h100 then spot", "spot", "no longer run on pool h100"),
        ("pool h100", "spot", "no longer run on pool h100, run on spot first"),
        ("pool h100 then spot", "spot then pool h100", "run on spot first"),
        ("pool cpu then spot then on-demand", "pool cpu then on-demand then spot", "run on on-demand before spot"),
        ("spot", "spot then on-demand", "also run on on-demand"),
        ("spot", "spot on n1-standard-4 then spot on n1-highmem-8", "also run on spot on n1-highmem-8"),
        ("spot", "spot on n1-standard-4", "run on spot on n1-standard-4"),
    ],
)
def test_the_order_of_capacity_types_says_what_is_lost_first_and_new(before: str, after: str, text: str) -> None:
    assert order(before, after).text() == text


def test_another_type_after_the_others_harms_nobody() -> None:
    assert order("spot", "spot then on-demand").grade is Grade.NOTE
    assert order("pool cpu then spot", "spot").grade is Grade.WARNING


def test_an_account_is_named_without_its_project_and_needs_the_secrets() -> None:
    before, after = "old@acme-ml.iam.gserviceaccount.com", "new@acme-ml.iam.gserviceaccount.com"
    account = ChangedValue(asked.ACCOUNT, before, after, is_used=True)
    assert (account.grade, account.text()) == (Grade.BLOCKING, "run as `new`, not `old`")
    reader = ChangedValue(f"{asked.READER} judge-key", before, after, is_used=True)
    assert (reader.grade, reader.text()) == (Grade.WARNING, "`new` needs access to secret `judge-key`")
    new_secret = ChangedValue(f"{asked.READER} judge-key", None, after, is_used=True)
    assert new_secret.grade is Grade.NOTE


def test_a_lost_secret_blocks_submissions_that_are_in_use() -> None:
    lost = ChangedValue(f"variable KEY{OF_SECRET}", "projects/p/secrets/judge/versions/1", None, is_used=True)
    assert lost.grade is Grade.BLOCKING
    assert ChangedValue(lost.name, lost.old, None, is_used=False).grade is Grade.WARNING


def test_arguments_that_a_later_shape_does_not_get() -> None:
    missing = ChangedValue(f"{asked.NOT_PASSED} 1 × a2-ultragpu-1g", None, "`--rank`", is_used=True)
    assert (missing.grade, missing.text()) == (Grade.WARNING, "on 1 × a2-ultragpu-1g, `--rank` not passed")
    assert ChangedValue(missing.name, "`--rank`", None, is_used=True).grade is Grade.NOTE


def test_digests_are_short() -> None:
    before, after = f"r/a/judge@sha256:{'1' * 64}", f"r/a/judge@sha256:{'2' * 64}"
    image = ChangedValue(asked.IMAGE, before, after, is_used=True)
    assert image.text() == "`image` judge@sha256:1111111 → judge@sha256:2222222"


@pytest.mark.parametrize(
    ("name", "old", "new", "text"),
    [
        (asked.PRICE, 0.0, 63.92, "cost $63.92/h, nothing before"),
        (asked.PRICE, 2.53, 0.0, "cost nothing beyond pools, $2.53/h before"),
        (asked.TIME_LIMIT, 86400, 3600, "end after 1 h, not 24 h"),
        (asked.KIND, "custom job", "pipeline job", "are a pipeline job, not a custom job"),
        (asked.CHECKPOINTS, True, False, "no longer resume from checkpoints"),
        (asked.IDLE_LIMIT, None, "below 20 % for 5 min", "end if GPU use is below 20 % for 5 min"),
        ("default of rank", "16", "64", "have `rank=64` by default, not 16"),
        ("argument --rank", "--rank=1", None, "no longer pass `--rank=1`"),
        ("argument --rank", "--rank=1", "--rank=2", "pass `--rank=2`, not `--rank=1`"),
        ("variable MODE", None, "fast", "also set `MODE` to `fast`"),
        (
            f"variable KEY{OF_SECRET}",
            None,
            "projects/p/secrets/a/versions/1",
            "also get secret `a/versions/1` as `KEY`",
        ),
        ("trials", 8, 0, "`trials` 8 → 0"),
    ],
)
def test_values_in_words(name: str, old: Value, new: Value, text: str) -> None:
    assert ChangedValue(name, old, new, is_used=True).text() == text
