"""Edits of a stack file that the program refuses, told from its text. # N5"""

import pytest

from slipway.review.change import Files
from slipway.review.preview import Preview
from slipway.review.program import program
from slipway.review.stack_file import deploying, edits
from slipway.review.words import Edit
from tests.slipway.review.builders import STACK, change, cluster, facts, job

BOTH = "a@acme.example, b@acme.example"
BEFORE = """
config:
  slipway:persistentResources:
    h100: { pools: { workers: { replicas: 2 } } }
  slipway:workspace:
    submitters: [a@acme.example, b@acme.example]
"""


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("gcp:impersonateServiceAccount", True),
        ("gcp:universeDomain", True),
        ("pulumi:disable-default-providers", True),
        ("secretsprovider", True),
        ("gcp:project", False),
        ("slipway:templates", False),
        ("acme:team", False),
    ],
)
def test_what_the_engine_deploys_as_needs_an_approval(key: str, told: bool) -> None:
    files = Files(stacks={STACK: (Edit(key, "", "x"),)})
    found = list(deploying(change(facts(), facts(), files=files)))
    assert [(one.kind, one.field) for one in found] == [("program-edited", key)] * told


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("replicas: 2", "replicas: 3", [Edit("slipway:persistentResources.h100.pools.workers.replicas", "2", "3")]),
        ("replicas: 2 ", "", [Edit("slipway:persistentResources.h100.pools.workers.replicas", "2", "")]),
        (
            ", b@acme.example",
            "",
            [Edit("slipway:workspace.submitters", "a@acme.example, b@acme.example", "a@acme.example")],
        ),
        ("a@acme.example, b@acme.example", "b@acme.example, a@acme.example", []),
        ("replicas: 2", "replicas:   2  # two", []),
        ("config:", "config: [", []),
        ("config:", "secretsprovider: x\nconfig:", [Edit("secretsprovider", "", "x")]),
    ],
    ids=("value", "gone", "list", "order", "form", "no YAML", "top level"),
)
def test_keys_that_differ(old: str, new: str, told: list[Edit]) -> None:
    assert list(edits(BEFORE, BEFORE.replace(old, new))) == told


def test_no_secret_is_shown() -> None:
    after = f"{BEFORE}  other:token: {{ secure: v1:abc }}\n  other:password: hunter2-hunter2\n"
    assert {one.after for one in edits(BEFORE, after)} == {"hidden"}


def test_a_refused_preview_tells_what_was_edited_and_which_jobs_go_on() -> None:
    refused = Preview(errors=("error: no\n  why: so\n  fix: do that; or this",), why="failed")
    stacks = {STACK: edits(BEFORE, BEFORE.replace("replicas: 2", "replicas: 3"))}
    one, other = job("tune", on=cluster("h100")), job("digits", on=cluster("cpu"))
    files = Files(frozenset({"stacks/Pulumi.prod.yaml"}), stacks=stacks)
    (found,) = program(change(facts(), None, preview=refused, files=files, jobs=[one, other]))
    assert found.kind == "preview-failed"
    assert "do that" in found.sentence
    assert any(".replicas` 2 → 3" in line for line in found.details)
    assert [line for line in found.details if "goes on" in line and "tune" in line]
    assert not [line for line in found.details if "digits" in line]
