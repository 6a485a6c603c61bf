"""A look inside a running job: `slipway submit --shell`, `slipway jobs open --shell` (N29)."""

from collections.abc import Iterator

import pytest
import requests

from .stack import Stack, held

pytestmark = pytest.mark.smoke

ALLOWED = "slipway:workspace: {shell: true}"


@pytest.fixture
def open_stack(stack: Stack) -> Iterator[Stack]:
    """The stack allows shells."""
    stack.catalog["shell"] = True
    stack.publish()
    yield stack
    stack.cancel_all()


def test_a_stack_that_does_not_allow_shells_refuses_to_ask_for_one(stack: Stack) -> None:
    refused = stack.run("submit", "hello", "--shell")
    assert refused.code == 2 and stack.jobs() == []
    assert "allows no shell in its jobs" in refused.err and f"fix: ask its owners for {ALLOWED}" in refused.err


def test_a_shell_of_a_submission_is_opened_by_its_job(open_stack: Stack) -> None:
    job = held(open_stack, 1, "--shell")
    (link,) = open_stack.well("jobs", "open", job, "--shell", "--print").out.split()
    assert requests.get(link, timeout=30).headers["content-type"].startswith("text/html")
    document = open_stack.well("jobs", "open", job, "--shell", "main", "--output", "json").json
    assert document["link"] == link and document["what"] == "shell"
    assert open_stack.well("jobs", "open", "--shell", job, "--print").out.split() == [link], "a job, and no role"
    none = open_stack.run("jobs", "open", "--dashboard")
    assert none.code == 2 and "Missing argument 'JOB'" in none.err
    odd = open_stack.run("jobs", "open", job, "--shell", "mian")
    assert odd.code == 2 and f"fix: slipway jobs open {job} --shell main" in odd.err
    both = open_stack.run("jobs", "open", job, "--shell", "--dashboard")
    assert both.code == 2 and "name one of them" in both.err
    open_stack.cancel_all()
    assert open_stack.run("jobs", "wait", job).code == 8
    over = open_stack.run("jobs", "open", job, "--shell")
    assert over.code == 4 and "has no shell any more" in over.err and "cancelled" in over.err


def test_a_job_that_never_ran_had_no_machines(open_stack: Stack) -> None:
    held(open_stack)
    job = open_stack.sends("hello", "--shell")["displayName"]
    open_stack.cancel_all()
    over = open_stack.run("jobs", "open", job, "--shell")
    assert over.code == 4 and "it is over (cancelled)" in over.err


def test_that_the_local_cloud_has_no_dashboard_is_said_at_once(stack: Stack) -> None:
    for offer in stack.catalog["templates"]["hello"]["offers"]:
        offer["request"]["jobSpec"]["enableDashboardAccess"] = True
    stack.publish()
    job = held(stack, 1)
    refused = stack.run("jobs", "open", job, "--dashboard")
    assert refused.code == 4 and "why: the local cloud has no dashboards" in refused.err
    stack.cancel_all()


def test_a_job_that_asked_for_no_shell_says_how_to_get_one(open_stack: Stack) -> None:
    job = held(open_stack, 1)
    refused = open_stack.run("jobs", "open", job, "--shell")
    assert refused.code == 4 and "its request asked for none" in refused.err
    assert f"fix: slipway submit --like {job} --shell" in refused.err
