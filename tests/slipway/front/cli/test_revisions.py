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


def test_runs_of_a_sweep_have_it_and_a_deployment_since_is_told(dirty: Stack) -> None:
    (dirty.folder / "sweep.csv").write_text("code\nprint(1)\nprint(2)\n")
    words = ("submit", "hello", "--sweep", "sweep.csv")
    create = r"^POST .*/customJobs$"
    with dirty.faults({"kind": "unavailable", "match": create, "times": 2}):
        assert dirty.run(*words, SLIPWAY_LOOK_FOR="1s").code == 75
    dirty.deploy("0a1b2c3", dirty=False)
    again = dirty.well(*words, "--retry-failed", SLIPWAY_LOOK_FOR="1s")
    assert "with the templates of 0a1b2c3-dirty;" in again.err and "rest runs those of 0a1b2c3\n" in again.err
    assert {job["labels"]["slipway-commit-dirty"] for job in dirty.jobs()} == {"false"}


def test_a_clean_deployment_says_so_and_a_job_without_the_label_does_not(stack: Stack) -> None:
    assert stack.sends("hello")["dirty"] is None
    stack.deploy("0a1b2c3", dirty=False)
    found = stack.sends("hello")
    assert (found["commit"], found["dirty"]) == ("0a1b2c3", False)
    old, new = sorted(stack.jobs(), key=lambda job: str(job["createTime"]))
    assert "commit     3f9c2e1" in stack.run("jobs", "show", old["displayName"]).out.splitlines()
    assert "commit     0a1b2c3" in stack.run("jobs", "show", new["displayName"]).out.splitlines()
