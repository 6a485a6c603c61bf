"""The engine's events, as it wrote them: nothing secret is kept. # N5 # D7"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from slipway.deploying.engine.events import read
from slipway.deploying.engine.preview import SECRET, EngineStep, Objection, Preview

RECORDED = (Path(__file__).parent / "recorded" / "edit.jsonl").read_text().splitlines()
"""pools.workers.max 4 → 6, a submitter more, and a template less. Requests and most outputs are left out."""


def steps(preview: Preview) -> dict[tuple[str, str], EngineStep]:
    return {(step.type.rpartition(":")[2], step.name): step for step in preview.steps}


def event(**body: Any) -> str:
    return json.dumps({"sequence": 1, **body})


def test_what_a_refresh_writes_among_inputs_is_no_input() -> None:
    """gcp-provider.md, seen again: the hash of an object, and the bucket of a grant by its path. # N10"""
    declared = {"bucket": "acme-catalog", "name": "catalog.json", "detectMd5hash": "different hash"}
    now = {**declared, "bucket": "b/acme-catalog", "detectMd5hash": "mZFLkyvTelC5g8XnyQrpOw=="}
    urn = "urn:pulumi:dev::slipway::gcp:storage/bucketObject:BucketObject::catalog"
    told = {"urn": urn, "op": "refresh", "old": {"inputs": declared}, "new": {"inputs": now}}
    step = read([event(resOutputsEvent={"metadata": told})]).standing[urn]
    assert step.old is not None and step.new is not None
    assert step.old.inputs == step.new.inputs == {"bucket": "acme-catalog", "name": "catalog.json"}


def test_secrets_in_both_shapes_and_the_configuration_are_not_kept() -> None:
    preview = read(RECORDED)
    catalog = steps(preview)["BucketObject", "catalog"].new
    assert catalog is not None and catalog.inputs["content"] == SECRET
    assert "owner@company.example" in RECORDED[0], "the prelude has the stack's configuration"
    assert "owner@company.example" not in repr(preview)
    assert "1b47061264138c4ac30d75fd1eb44270" not in repr(preview)


def test_objections_of_policy_packs_are_kept_once_and_a_mandatory_one_ends_the_preview() -> None:
    """As engine 3.259 writes them."""
    urn = "urn:pulumi:dev::plain::gcp:storage/bucket:Bucket::artifacts"
    told = {
        "resourceUrn": urn,
        "policyPackName": "acme",
        "policyName": "team-label",
        "message": "no label: hf_0123456789abcdefAB, TOKEN=hunter2\n",
    }
    lines = [event(policyEvent={**told, "enforcementLevel": level}) for level in ("mandatory", "advisory", "mandatory")]
    preview = read([*lines, event(summaryEvent={"result": "failed"})])
    (advisory, mandatory) = preview.objections
    assert mandatory == Objection(
        "acme", "team-label", "artifacts", "no label: (hidden), TOKEN=(hidden)", mandatory=True
    )
    assert advisory == replace(mandatory, mandatory=False)
    assert "until this is fixed" in preview.why


def test_a_stream_that_is_cut_says_that_something_may_be_missing() -> None:
    preview = read(RECORDED[:5])
    assert not preview.complete
    assert "end before its summary" in preview.why


def refused() -> Iterator[str]:
    yield event(preludeEvent={"config": {}})
    yield event(diagnosticEvent={"severity": "error", "message": "error: quota does not suffice\n"})
    yield event(diagnosticEvent={"severity": "error", "message": "error: quota does not suffice\n"})


@pytest.mark.parametrize("severity", ["error", "warning"])
def test_no_secret_of_a_message_is_kept(severity: str) -> None:
    preview = read([event(diagnosticEvent={"severity": severity, "message": "no login with DB_PASSWORD=hunter2"})])
    assert [*preview.errors, *preview.warnings] == ["no login with DB_PASSWORD=(hidden)"]


@pytest.mark.parametrize("end", [[], [event(summaryEvent={"result": "failed"})]])
def test_a_preview_that_failed_says_that_deletions_were_not_computed(
    snapshot: SnapshotAssertion, end: list[str]
) -> None:
    preview = read([*refused(), *end])
    assert preview.why == snapshot
    assert preview.errors == ("error: quota does not suffice",)


def test_what_another_engine_writes_is_passed_over_and_said(snapshot: SnapshotAssertion) -> None:
    strange = event(resourcePreEvent={"metadata": {"operation": "create"}})
    preview = read(["warning: a word of the shell", *RECORDED[:-1], strange, RECORDED[-1]])
    assert not preview.complete
    assert preview.why == snapshot


@given(
    st.lists(
        st.one_of(
            st.text(),
            st.recursive(
                st.none() | st.text(),
                lambda held: st.dictionaries(
                    st.sampled_from(
                        ["resourcePreEvent", "metadata", "op", "urn", "old", "new", "diagnosticEvent", "summaryEvent"]
                    ),
                    held,
                ),
            ).map(json.dumps),
        )
    )
)
def test_nothing_makes_it_raise(lines: list[str]) -> None:
    assert not read(lines).complete or not read(lines).steps
