"""Edited settings of a stack file that no catalog has are rows too, and a formal edit is none. # N14"""

import pytest

from slipway.reviewing.reviewer import review
from tests.slipway.reviewing.builders import change, facts
from tests.slipway.reviewing.edited_files import edited, found

FILE = "stacks/Pulumi.prod.yaml"
QUOTA = (
    "config: { slipway:quota: { mode: enforce, justification: a model }, slipway:machines: { small: n1-standard-8 } }"
)
MERGED = "config: { x: &x { justification: a model }, slipway:quota: { <<: *x } }"


def rows(before: str, after: str, path: str = FILE) -> list[tuple[str, str, str]]:
    files = edited({path: before}, {path: after})
    reviewed = review(change(facts(), facts(), files=files))
    return [(row.key, row.before, row.after) for row in reviewed.settings]


@pytest.mark.parametrize(
    ("before", "after", "row"),
    [
        (QUOTA, QUOTA.replace("a model", "two models"), ("slipway:quota.justification", "a model", "two models")),
        (QUOTA, QUOTA.replace("a model", "a model, contactEmail: a@b"), ("slipway:quota.contactEmail", "", "a@b")),
        (QUOTA, QUOTA.replace("8", "16"), ("slipway:machines.small", "n1-standard-8", "n1-standard-16")),
        (MERGED, MERGED.replace("a model", "b"), ("slipway:quota.justification", "a model", "b")),
    ],
)
def test_an_edited_setting_that_no_catalog_has(before: str, after: str, row: tuple[str, str, str]) -> None:
    assert rows(before, after) == [row]


@pytest.mark.parametrize(
    ("before", "after", "path"),
    [
        ("config: { slipway:retireWithin: 2w }", "config: { slipway:retireWithin: 14d }", FILE),
        (QUOTA, QUOTA.replace("a model", "'a model'"), FILE),
        (QUOTA, QUOTA.replace("n1-standard-8", "{ machine: n1-standard-8 }"), FILE),
        (MERGED, MERGED.replace("<<: *x", "justification: a model"), FILE),
        (QUOTA, QUOTA.replace("a model", "b"), "stacks/Pulumi.dev.yaml"),
    ],
)
def test_a_formal_edit_and_the_file_of_another_stack_are_no_rows(before: str, after: str, path: str) -> None:
    assert rows(before, after, path) == []


def test_an_environment_of_the_stack_file_is_blocking() -> None:
    files = edited({FILE: "config: {}"}, {FILE: "config: {}\nenvironment: [acme/prod]"})
    (finding,) = found(files)
    assert finding.sentence == "Pulumi deploys with another value: none → `acme/prod`"
