"""A pull request's program says what it likes: no preview makes a review raise. # N14"""

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from slipway.base.codec import MalformedError
from slipway.deploying.engine.events import declared, read
from slipway.deploying.engine.preview import SECRET, UNKNOWN, EngineStep, Preview, Resource
from slipway.model.facts import CATALOG, CLUSTER, QUOTA, TEMPLATE, WORKSPACE
from slipway.model.facts import read as read_facts
from slipway.reviewing.gate import unapproved
from slipway.reviewing.render.comment import comment
from slipway.reviewing.reviewer import review
from tests.slipway.reviewing.builders import change, cluster, facts, job, template

_TYPES = (
    "gcp:storage/bucket:Bucket",
    "gcp:storage/bucketObject:BucketObject",
    "gcp:storage/bucketIAMMember:BucketIAMMember",
    "gcp:serviceaccount/account:Account",
    "gcp:projects/iAMMember:IAMMember",
    "gcp:projects/iAMBinding:IAMBinding",
    "gcp:projects/iAMPolicy:IAMPolicy",
    "gcp:vertex/aiPersistentResource:AiPersistentResource",
    "gcp:bigquery/dataset:Dataset",
    "strange",
)
_PARENTS = ("", *(f"slipway:index:{word}" for word in ("Workspace", "Catalog", "JobTemplate")))
_OPS = ("create", "update", "delete", "replace", "create-replacement", "delete-replaced", "import", "same", "odd")
_KEYS = (
    *("name", "member", "members", "role", "condition", "policyData", "bucket", "accountId", "project", "labels"),
    *("versioning", "lifecycleRules", "retentionPolicy", "softDeletePolicy", "encryption", "forceDestroy", "action"),
    *("enabled", "age", "matchesPrefixes", "storageClass", "type", "retentionPeriod", "bindings", "deletionPolicy"),
)
_LEAVES = st.none() | st.booleans() | st.integers() | st.sampled_from([SECRET, UNKNOWN, "", "allUsers", "a/b", "{}"])
_VALUES = st.recursive(
    _LEAVES, lambda held: st.lists(held, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), held, max_size=3)
)
_INPUTS = st.dictionaries(st.sampled_from(_KEYS), _VALUES, max_size=5)


@st.composite
def steps(draw: st.DrawFn) -> EngineStep:
    def resource() -> Resource | None:
        inputs: Mapping[str, Any] | None = draw(st.none() | _INPUTS)
        return None if inputs is None else Resource(inputs, {}, "", draw(st.booleans()), draw(st.booleans()))

    type_, name = draw(st.sampled_from(_TYPES)), draw(st.sampled_from(["work", "catalog", "x"]))
    return EngineStep(
        draw(st.sampled_from(_OPS)),
        f"urn:pulumi:prod::slipway::{type_}::{name}",
        type_,
        name,
        draw(st.sampled_from(_PARENTS)),
        resource(),
        resource(),
        tuple(draw(st.lists(st.sampled_from(_KEYS), max_size=2))),
        tuple(draw(st.lists(st.sampled_from(_KEYS), max_size=2))),
    )


@given(st.lists(steps(), max_size=4), st.lists(steps(), max_size=3))
def test_no_preview_makes_a_review_raise(planned: list[EngineStep], refreshed: list[EngineStep]) -> None:
    preview = Preview(tuple(planned), {step.urn: step for step in refreshed})
    review(change(facts(), facts(), preview=preview, jobs=[job()]))


_ODD = st.none() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2) | _INPUTS


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(below for key, item in entries for below in _paths(item, (*path, key)))]


def _with(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    if not path:
        return odd
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _with(copy[path[0]], path[1:], odd)
    return copy


WHOLE = facts(cluster(), template())
PUBLISHED = {
    CLUSTER: WHOLE.clusters[cluster().id],
    TEMPLATE: WHOLE.templates["lora"],
    WORKSPACE: WHOLE.workspace,
    QUOTA: WHOLE.quota_check,
    CATALOG: {**WHOLE.published, "policy": {"mandatory": {"labels": ["team"], "idleCost": 5, "regions": ["x"]}}},
}
PLACES = [(type_, path) for type_, body in PUBLISHED.items() for path in _paths(body)]


@given(st.sampled_from(PLACES), _ODD)
@example((TEMPLATE, ("offers", "pool cpu", "place")), "")
@example((CLUSTER, ("replacement",)), "")
def test_no_facts_make_a_review_raise(place: tuple[str, tuple[Any, ...]], odd: Any) -> None:
    type_, path = place
    published = {**PUBLISHED, type_: _with(PUBLISHED[type_], path, odd)}
    named = [
        EngineStep("create", f"urn:pulumi:prod::slipway::{kind}::x", kind, "x", new=Resource(body), component=True)
        for kind, body in published.items()
    ]
    try:
        after = read_facts(declared(Preview(tuple(named))))
    except MalformedError:
        return
    review(change(WHOLE, after, jobs=[job()]))


def test_what_the_program_warns_of_is_quoted_and_decides_nothing() -> None:  # N5
    warnings = [{"severity": "warning", "message": f"<b>look</b> {n}\nthere"} for n in range(12)]
    stream = [json.dumps({"diagnosticEvent": warning}) for warning in (*warnings, warnings[0])]
    preview = read((*stream, json.dumps({"summaryEvent": {}})))
    reviewed = review(change(None, None, preview=preview))
    assert reviewed.quoted[0] == "<b>look</b> 0 there"
    assert len(reviewed.quoted) == 11 and reviewed.quoted[-1] == "and 2 more"
    assert list(unapproved([reviewed])) == []
    text = comment([reviewed])
    assert "in its own words" in text and "\n<b>" not in text.partition("```")[0]
