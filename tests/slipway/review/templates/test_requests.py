"""What is posted, before and after. Every difference is named, a secret in plain text blocks and is not shown. # N8"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.catalog.model import Offer
from slipway.findings.finding import Grade
from slipway.review.templates.secret_values import HIDDEN, shown
from slipway.stack.secrets import looks_secret
from tests.slipway.review.builders import (
    H100,
    request,
    worker_pool,
)
from tests.slipway.review.templates.lora import (
    LORA,
    PLAIN,
    POOL,
    asking,
    found,
)

BLOCKING = Grade.BLOCKING


@pytest.mark.parametrize(
    ("name", "value"),
    [("HF_TOKEN", "abc"), ("DB", "postgres://u:pw@host/db"), ("X", "hf_" + "a" * 20), ("API_KEY", "k" * 9)],
)
def test_a_secret_in_plain_text_is_blocking_and_not_shown(name: str, value: str) -> None:
    some = found(PLAIN, asking(env={name: value}))
    assert {one.kind for one in some} == {"environment-changed", "plain-secret"}
    assert max(one.grade for one in some) is BLOCKING
    assert value not in repr(some)
    assert found(asking(env={name: value}), asking(env={name: value})) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HF_TOKEN__SECRET", "projects/p/secrets/hf/versions/1"),
        ("TOKENS", "300"),
        ("API_KEY_FILE", "/gcs/x"),
        ("HF_TOKEN", "${token}"),
    ],
)
def test_a_reference_to_a_secret_is_none(name: str, value: str) -> None:
    assert "plain-secret" not in {one.kind for one in found(PLAIN, asking(env={name: value}))}


WHOLE = request(
    worker_pool(image="a:1", args=("--x=1",), env={"A": "1"}), worker_pool(H100, 2, reservation="projects/p/r")
) | {"encryptionSpec": {"kmsKeyName": "k"}}
SILENT = ("persistentResourceId", "packageUris")


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        return [path]
    return [leaf for key, one in items for leaf in leaves(one, (*path, key))]


def edited(path: tuple[Any, ...], edit: Callable[[Any, Any], None]) -> Offer:
    body = copy.deepcopy(WHOLE)
    inner: Any = body
    for key in path[:-1]:
        inner = inner[key]
    edit(inner, path[-1])
    return replace(POOL, request=body, roles=("chief", "worker"))


def assigned(inner: Any, key: Any) -> None:
    inner[key] = "7"


def removed(inner: Any, key: Any) -> None:
    del inner[key]


@given(
    st.sampled_from([path for path in leaves(WHOLE) if not set(path) & set(SILENT)]),
    st.sampled_from([assigned, removed]),
)
def test_no_single_difference_of_a_request_is_silent(path: tuple[Any, ...], edit: Callable[[Any, Any], None]) -> None:
    old = replace(LORA, offers=(replace(POOL, request=WHOLE, roles=("chief", "worker")),))
    new = replace(LORA, offers=(edited(path, edit),))
    assert found(old, new), path
    assert found(old, old) == []


def test_a_value_of_megabytes_takes_no_longer_than_a_short_one() -> None:
    assert not looks_secret("eyJaaaaaaaaaa-" * 1_000_000)
    beside = "x" * 9000 + " a"
    assert shown("x" * 9000 + " hf_" + "a" * 40, beside=beside) == HIDDEN
