"""`slipway jobs compare`: what differs first, and the rest in a line. # N19"""

from __future__ import annotations

import re

from syrupy.assertion import SnapshotAssertion

from tests.slipway.cli.stack import Stack

from .test_results import measured, screen


def sent(stack: Stack, *words: str) -> str:
    done = stack.run("submit", *words, "--wait", "--output", "json")
    return str(done.json["job"]["displayName"])


def test_what_differs_stands_side_by_side_and_the_rest_below(snapshot: SnapshotAssertion, stack: Stack) -> None:
    names = [sent(stack, "crew", "-p", f"code=print({number})", "-p", "workers=1") for number in (1, 2)]
    measured(stack, names[0], {"accuracy": 0.97, "loss": 1})
    measured(stack, names[1], {"accuracy": 0.98, "loss": 1})
    done = stack.run("jobs", "compare", *names)
    assert done.code == 0 and done.err == "", done.err
    text = screen(done.out, names).replace(stack.name, "STACK")
    # How long jobs run differs, or by chance does not.
    text = re.sub(r"(?<=\n)(OUTCOME)? +(waited|ran|cost) .*\n", "", text)
    assert re.sub(r", (waited|ran|cost) [^,\n]+", "", text) == snapshot

    found = stack.run("jobs", "compare", *names, "--output", "json").json
    assert found["kind"] == "comparison" and [job["displayName"] for job in found["jobs"]] == names
    assert [job["metrics"] for job in found["jobs"]] == [{"accuracy": 0.97, "loss": 1}, {"accuracy": 0.98, "loss": 1}]
    fields = {(one["group"], one["name"]): (one["values"], one["alike"]) for one in found["fields"]}
    assert fields["parameter", "code"] == (["print(1)", "print(2)"], False)
    assert fields["metric", "loss"] == ([1, 1], True) and fields["parameter", "workers"] == ([1, 1], True)


def test_jobs_of_all_templates_can_be_compared_and_a_missing_metric_says_why(stack: Stack) -> None:
    one, other = sent(stack, "hello"), sent(stack, "crew", "-p", "code=raise ValueError('\x1b[31m')")
    done = stack.run("jobs", "compare", one, other)
    assert done.code == 0 and "\x1b" not in done.out + done.err
    assert re.search(r"template +hello +crew\n", done.out) and re.search(
        r"OUTCOME +state +succeeded +failed\n", done.out
    )
    assert re.search(r" cause +– +ValueError", done.out), "as the table of results has it"
    assert done.err == f"{one} and {other} have no metrics: no metrics.json in its output\n"


def test_a_job_alone_is_refused(stack: Stack) -> None:
    name = sent(stack, "hello")
    for words in ((name,), (name, "hello")):
        refused = stack.run("jobs", "compare", *words)
        assert refused.code == 2 and refused.out == "" and "alone can't be compared" in refused.err
