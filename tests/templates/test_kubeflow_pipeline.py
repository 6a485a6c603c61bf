"""A compiled Kubeflow pipeline as a template: its tasks run on the stack's cluster, each with what others wrote."""

import csv
import re

import pytest
from vertex_local.nodes import mounts

from .stack import GREET, Stack

pytestmark = [
    pytest.mark.journey,
    pytest.mark.skipif(not mounts.possible(buckets=True), reason="tasks write below /gcs"),
]


def test_a_pipeline_is_submitted_shown_logged_and_priced(stack: Stack) -> None:  # N28
    job = stack.run(GREET, who="bob")
    assert (job.document["kind"], job.document["state"], job.document["capacityType"]) == (
        "pipeline",
        "succeeded",
        "pool",
    )
    assert job.document["parameters"] == {"who": "bob", "times": 1}
    tasks = {task["path"]: task for task in job.document["tasks"]}
    assert tasks["bye"]["inputs"]["name"] == "hello, bob"
    assert {task["state"] for task in tasks.values()} == {"succeeded"}
    assert "hello: hello, bob" in job.lines and "bye: bye, hello, bob" in job.lines
    shown = stack.slipway("jobs", "show", job.display_name).out
    assert re.search(r"^TASK +STATE +RAN .*\nhello +succeeded .*\nbye +succeeded ", shown, re.MULTILINE)
    assert "(of a pool that is paid for anyway)" in shown and "labels" not in shown
    listed = stack.slipway("jobs", "list", "--template", GREET, "--output", "json").json["jobs"]
    assert [each["name"] for each in listed] == [job.name], "its tasks' jobs are not listed beside it"
    # Its tasks' machines cost what it costs, wherever that is told. # N19
    assert float(listed[0]["cost"]) == float(job.document["cost"]) > 0
    (row,) = csv.DictReader(stack.slipway("jobs", "list", "--template", GREET, "--output", "csv").out.splitlines())
    assert float(row["cost"]) == pytest.approx(float(job.document["cost"]), abs=1e-6)
    assert "its machines cost " in stack.slipway("jobs", "wait", job.display_name).err
    table = stack.slipway("board", "--output", "json").json["jobs"]  # N20
    drawn = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    assert [row["template"] for row in drawn] == [GREET, GREET]
    about = stack.slipway("templates", "show", GREET).out
    assert "1 task of head" in about and "at least once" not in about
    tried = stack.slipway("submit", GREET, "-p", "who=bob", "--dry-run")
    assert tried.code == 0 and "at least once" not in tried.out + tried.err
    for flag in ("--shell", "--dashboard"):
        refused = stack.slipway("jobs", "open", job.display_name, flag)
        assert refused.code and "each task of a pipeline is a job of its own" in refused.err
        assert "slipway submit" not in refused.err


def test_a_value_that_the_pipeline_does_not_take_is_refused_before_anything_is_sent(stack: Stack) -> None:  # N28
    for given, words in (("times=ten", "times"), ("times=99", "out of bounds: 1 to 9"), ("whom=bob", "whom")):
        refused = stack.slipway("submit", GREET, "-p", given)
        assert refused.code == 2 and words in refused.err
    refused = stack.slipway("submit", GREET, "--note", "a try")
    assert refused.code == 2 and "has no place for a note" in refused.err


def test_the_same_request_makes_no_second_run(stack: Stack) -> None:  # N5, N28
    first = stack.submit(GREET, "--request-id", "nightly-1")
    again = stack.submit(GREET, "--request-id", "nightly-1")
    assert again.name == first.name
    stack.slipway("jobs", "cancel", first.display_name, "--yes")
    assert first.finished(8).document["state"] == "cancelled"
