"""What a job comes from is said alike wherever it is said: a commit, and whether there was more than it."""  # N8

import pytest

from .stack import Stack


@pytest.fixture
def dirty(stack: Stack) -> Stack:
    """A stack that was deployed with uncommitted templates."""
    stack.deploy("0a1b2c3", dirty=True)
    return stack


def test_each_screen_and_document_has_the_mark(dirty: Stack) -> None:
    done = dirty.well("submit", "hello")
    assert done.out.startswith("hello  @ 0a1b2c3-dirty  →  ")
    (job,) = dirty.jobs()
    assert job["labels"]["slipway-commit-dirty"] == "true"
    assert "commit     0a1b2c3 with local changes" in dirty.run("jobs", "show", job["displayName"]).out.splitlines()
    shown = dirty.shown(job["displayName"])
    (listed,) = dirty.run("jobs", "list", "--output", "json").json["jobs"]
    for document in (shown, listed):
        assert (document["commit"], document["dirty"], document["code"]) == ("0a1b2c3", True, None)


def test_templates_have_it_too(dirty: Stack) -> None:
    assert dirty.run("templates", "show", "hello").out.splitlines()[0].endswith("  @ 0a1b2c3-dirty")
    assert f"not found in catalog {dirty.name} @ 0a1b2c3-dirty" in dirty.run("submit", "helo").err
    assert dirty.run("templates", "--output", "json").json["catalog"]["dirty"] is True


def test_a_clean_deployment_says_so_and_a_job_without_the_label_does_not(stack: Stack) -> None:
    assert stack.sends("hello")["dirty"] is None
    stack.deploy("0a1b2c3", dirty=False)
    found = stack.sends("hello")
    assert (found["commit"], found["dirty"]) == ("0a1b2c3", False)
    old, new = sorted(stack.jobs(), key=lambda job: str(job["createTime"]))
    assert "commit     3f9c2e1" in stack.run("jobs", "show", old["displayName"]).out.splitlines()
    assert "commit     0a1b2c3" in stack.run("jobs", "show", new["displayName"]).out.splitlines()
