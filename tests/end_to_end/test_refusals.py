"""Refusals of `slipway` on a stack that the engine made: in words, with the documented exit code, and without sending
anything; and how it ends with a job. (B1, D4, P5) All that it refuses: tests/slipway/front/cli."""

from __future__ import annotations

import json

import pytest

from tests.checkouts.checkout import Checkout

pytestmark = pytest.mark.journey

HELLO = ("submit", "nap", "-p", "say=hello")
NOWHERE = {"GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT": "http://127.0.0.1:9/v1beta1/"}


@pytest.mark.parametrize(
    ("code", "words", "variables", "told"),
    [
        (1, HELLO, NOWHERE, ("nothing answers at http://127.0.0.1:9 (connection refused)",)),
        (2, ("submit", "nip"), {}, ("template 'nip' not found in catalog trial", "slipway submit nap")),
        (3, HELLO, {"GOOGLE_OAUTH_ACCESS_TOKEN": "ya29.stale"}, ("could not read the catalog", "log in again")),
        (4, ("jobs", "show", "4711"), {}, ("no job '4711' in local-project, us-central1", "none of that name")),
    ],
)
def test_a_refusal_says_why_and_what_to_do_and_nothing_is_sent(
    deployed: Checkout, code: int, words: tuple[str, ...], variables: dict[str, str], told: tuple[str, ...]
) -> None:
    jobs, before = len(deployed.jobs()), deployed.journal()
    done = deployed.slipway(*words, **variables)
    assert (done.code, done.out) == (code, ""), done.said
    assert "fix: " in done.err.splitlines()[-1]
    for word in ("error: ", "  why: ", *told):
        assert word in done.err, f"{word!r} is not in:\n{done.err}"
    assert "Traceback" not in done.err and "ya29" not in done.said
    assert len(deployed.jobs()) == jobs
    states = {json.loads(note.read_text())["state"] for note in deployed.journal() if note not in before}
    assert states <= {"refused"}


def test_a_job_that_fails_ends_the_command_with_its_exit_code_and_its_own_words(deployed: Checkout) -> None:
    done = deployed.slipway(*HELLO, "-p", "end=badly", "--follow")
    assert done.code == 4, done.said
    assert "the word is hello" in done.out and "slept well" in done.out
    assert "failed" in done.err and "Traceback" not in done.err


def test_a_job_that_is_still_running_at_the_timeout_goes_on(deployed: Checkout) -> None:
    name = deployed.submit("-p", "seconds=600")["displayName"]
    late = deployed.slipway("jobs", "wait", name, "--timeout", "1s")
    assert late.code == 9 and f"fix: slipway jobs wait {name}" in late.err, late.said
    assert deployed.slipway("jobs", "cancel", name).code == 0
    ended = deployed.slipway("jobs", "wait", name)
    assert ended.code == 8, ended.said
