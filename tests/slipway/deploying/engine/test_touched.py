"""The fate of each resource, and the differences of its inputs. # N5"""

import pytest

from slipway.deploying.engine.preview import SECRET, UNKNOWN, Preview
from slipway.deploying.engine.touched import Fate, Touched, differences, touched
from tests.builders.steps import step

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
    (resource,) = touched(Preview(tuple(steps)))
    return resource


@pytest.mark.parametrize(
    ("ops", "fate"),
    [
        (("create",), Fate.CREATED),
        (("import",), Fate.ADOPTED),
        (("import", "update"), Fate.ADOPTED),
        (("delete",), Fate.DELETED),
        (("create-replacement", "replace", "delete-replaced"), Fate.REPLACED),
        (("replace",), Fate.REPLACED),
        (("delete-replaced",), Fate.DELETED),
    ],
)
def test_destruction_is_destruction_whatever_the_engine_calls_it(ops: tuple[str, ...], fate: Fate) -> None:
    assert only(*ops, location="US").fate is fate


def test_what_the_engine_retains_or_abandons_stays() -> None:
    assert only("delete", retained=True).fate is Fate.FORGOTTEN
    assert only("delete", deletionPolicy="ABANDON").fate is Fate.FORGOTTEN


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"a": {"b": [1, 2]}}, {"a": {"b": [2, 1]}}, []),
        ({"a": {"b": True}}, {"a": {"b": False}}, ["`a.b` `true` → `false`"]),
        ({"a": ["x", "y"]}, {"a": ["y", "z"]}, ["`a[0]` `x` → `z`"]),
        ({"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1, "c": 3}]}, ["`a[0].c` `2` → `3`"]),
        ({"a": 1}, {"a": UNKNOWN}, ["`a` `1` → what is known once it is deployed"]),
        ({"rootPassword": "old"}, {"rootPassword": "new"}, ["`rootPassword`, which may be secret"]),
        ({"env": {"x": "hf"}}, {"env": {"x": SECRET}}, ["`env.x`, which may be secret"]),
        ({"data": ""}, {"data": "-----BEGIN PRIVATE KEY-----"}, ["`data`, which may be secret"]),
    ],
)
def test_differences_are_leaf_by_leaf_and_never_secret(
    before: dict[str, object], after: dict[str, object], told: list[str]
) -> None:
    assert [str(difference) for difference in differences(before, after)] == told
