"""What becomes of a resource: all that the engine does to it, taken together. # N5"""

import pytest

from slipway.review.preview import SECRET, UNKNOWN
from slipway.review.touched import Fate, InputDifference, Touched, differences
from tests.slipway.review.builders import change, step
from tests.slipway.review.recordings import recorded

DATASET = "gcp:bigquery/dataset:Dataset"


def only(*ops: str, retained: bool = False, **inputs: object) -> Touched:
    steps = [
        step(
            op,
            DATASET,
            "results",
            old=None if op in ("create", "import") else inputs,
            new=None if op.startswith("delete") else inputs,
            retained=retained and op not in ("create", "import"),
        )
        for op in ops
    ]
    (found,) = change(None, None, steps=steps).touched
    return found


@pytest.mark.parametrize(
    ("ops", "fate"),
    [
        (("create",), Fate.CREATED),
        (("import",), Fate.ADOPTED),
        (("import", "update"), Fate.ADOPTED),
        (("update",), Fate.CHANGED),
        (("delete",), Fate.DELETED),
        (("create-replacement", "replace", "delete-replaced"), Fate.REPLACED),
        (("delete-replaced", "replace", "create-replacement"), Fate.REPLACED),
        (("replace",), Fate.REPLACED),
        (("delete-replaced",), Fate.DELETED),
    ],
)
def test_destruction_is_destruction_whatever_the_engine_calls_it(ops: tuple[str, ...], fate: Fate) -> None:
    assert only(*ops, location="US").fate is fate


def test_what_the_engine_retains_or_abandons_stays() -> None:
    assert only("delete", retained=True).fate is Fate.FORGOTTEN
    assert only("delete", deletionPolicy="ABANDON").fate is Fate.FORGOTTEN


def test_components_providers_and_reads_are_no_resources() -> None:
    steps = [
        step("update", "slipway:components:Workspace", "workspace", old={}, new={"code": True}),
        step("discard", DATASET, "read", old={}),
    ]
    assert change(None, None, steps=steps).touched == ()


def test_what_somebody_changed_by_hand_is_told_from_what_the_program_changes() -> None:
    found = {one.name: one for one in recorded("by_hand").touched}
    work = found["work"]
    assert (work.edited, work.put_back) == ((), ("lifecycleRules", "versioning"))
    assert found["trainer-writes-work"].by_hand
    assert {one.name: one.put_back for one in recorded("buckets").touched} == {"work": (), "catalog": ()}


def test_a_protection_that_changes_alone_is_told_though_the_engine_calls_it_the_same() -> None:
    (work,) = recorded("protect").touched
    assert work.old is not None and work.new is not None
    assert (work.fate, work.old.protected, work.new.protected) == (Fate.CHANGED, False, True)


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [2, 1]}}, []),
        ({"a": {"b": True}}, {"a": {"b": False}}, ["`a.b` `true` → `false`"]),
        ({}, {"a": "x"}, ["`a` none → `x`"]),
        ({"a": ["x", "y"]}, {"a": ["y", "z"]}, ["`a[0]` `x` → `z`"]),
        ({"a": ["x", "y"]}, {"a": []}, ["`a` `x, y` → none"]),
        ({"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1, "c": 3}]}, ["`a[0].c` `2` → `3`"]),
        ({"a": 1}, {"a": UNKNOWN}, ["`a` `1` → what is known once it is deployed"]),
        ({"rootPassword": "old"}, {"rootPassword": "new"}, ["`rootPassword`, which may be secret"]),
        ({"env": {"x": "hf"}}, {"env": {"x": SECRET}}, ["`env.x`, which may be secret"]),
        ({"data": ""}, {"data": "-----BEGIN PRIVATE KEY-----"}, ["`data`, which may be secret"]),
    ],
)
def test_differences_are_leaf_by_leaf_and_never_secret(
    before: dict[str, object], after: dict[str, object], found: list[str]
) -> None:
    assert [str(one) for one in differences(before, after)] == found


def test_a_difference_is_short() -> None:
    assert len(str(InputDifference("schema", "x" * 10_000, None))) < 120
