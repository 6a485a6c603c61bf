"""Filters of lists (AIP-160) as tests on documents."""

import re
from typing import Any

import pytest

from local.cloud import document_filters
from local.cloud.document_filters import Function, value_at
from local.cloud.filter_fields import FilterField, FilterFields
from local.cloud.wire import ApiError

RUN: dict[str, Any] = {
    "name": "contexts/run-1",
    "displayName": "run one",
    "schemaTitle": "system.ExperimentRun",
    "createTime": "2026-11-20T10:00:00.000000Z",
    "labels": {"team": "ml"},
    "isDefault": True,
    "metadata": {"epochs": 7.0, "optimizer": "adam"},
    "parents": ["a", "b"],
}

ANY: FilterFields = lambda path: FilterField(tuple(path), "open")  # noqa: E731


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("", True),
        ('display_name="run one"', True),
        ('displayName = "run two"', False),
        ('display_name="run*"', True),
        ('display_name!="run*"', False),
        ('schema_title="system.Experiment" OR schema_title="system.ExperimentRun"', True),
        ('(schema_title="system.Experiment" OR schema_title="system.PipelineRun") AND is_default=true', False),
        ("is_default=true", True),
        ("NOT is_default=true", False),
        ("-is_default=true", False),
        ("unknown=true", False),
        ("unknown=false", True),
        ("labels.team=ml labels.team:*", True),
        ("labels.other:*", False),
        ("metadata.epochs.number_value > 6.5", True),
        ("metadata.epochs > 7", False),
        ('metadata.optimizer.string_value = "adam"', True),
        ('create_time < "2026-11-20T11:00:01+01:00"', True),
        ('create_time >= "2026-11-20T10:00:01Z"', False),
        ("parents:a", True),
        ("display_name:ONE", True),
        ('start("run")', True),
        ('start:"run"', True),
        ('display_name = start("run")', False),
        ('display_name != start("run")', True),
    ],
)
def test_a_filter_decides_about_a_document(text: str, fits: bool) -> None:
    def start(values: Any) -> Any:
        return lambda document: len(values) == 1 and document["displayName"].startswith(values[0])

    functions: dict[str, Function] = {"start": start}
    assert document_filters.parsed(text, ANY, functions)(RUN) is fits


def test_or_binds_tighter_than_and() -> None:
    assert document_filters.parsed("is_default=false AND is_default=true OR is_default=false", ANY)(RUN) is False
    assert document_filters.parsed("is_default=true AND is_default=true OR is_default=false", ANY)(RUN) is True


@pytest.mark.parametrize("text", ["display_name", "(display_name=a", "=a", 'other("a")', "a=", "a=b)", 'a="', "a=<b"])
def test_what_is_no_filter_is_refused_in_words(text: str) -> None:
    with pytest.raises(ApiError, match="Invalid filter") as caught:
        document_filters.parsed(text, ANY)
    assert caught.value.code == 400


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("display_name", "an operator after 'display_name' is missing"),
        ("display_name=~a", "operator '=~' is not supported on 'display_name'"),
        ('display_name<start("a")', "'start' is not supported here"),
    ],
)
def test_what_is_wrong_with_an_operator_is_said(text: str, words: str) -> None:
    with pytest.raises(ApiError, match=re.escape(words)):
        document_filters.parsed(text, ANY, {"start": lambda values: lambda document: True})


def test_a_field_is_found_by_either_spelling() -> None:
    assert value_at(RUN, "display_name") == value_at(RUN, "displayName") == "run one"
    assert value_at(RUN, "labels.team") == "ml"
    assert value_at(RUN, "labels.team.more") is None
