"""`slipway jobs open`: where a job's page, output and logs are."""

from dataclasses import replace

import pytest

from slipway.cli.jobs.open import place_of
from slipway.cloud.jobs import VertexJob
from slipway.errors import ResourceError
from slipway.kinds import TUNING_JOB
from tests.slipway.cli.stack import Stack
from tests.slipway.submission.conftest import job as a_job

PAGE = "https://console.cloud.google.com/agent-platform/locations/us-central1/training/4711?project=p"
JOB: VertexJob = replace(a_job(), output="gs://work/jobs/tune 1/")


def test_the_console_page_is_the_jobs() -> None:
    lines, link = place_of(JOB, "console", PAGE, "p")
    assert lines == (PAGE,) and link == PAGE


def test_the_output_is_given_by_name_and_by_its_page() -> None:
    lines, link = place_of(JOB, "output", PAGE, "p")
    assert link == "https://console.cloud.google.com/storage/browser/work/jobs/tune%201?project=p"
    assert lines == ("gs://work/jobs/tune 1", link)


def test_without_a_console_the_output_has_its_name_alone_and_the_page_is_refused() -> None:
    assert place_of(JOB, "output", "", "") == (("gs://work/jobs/tune 1",), "")
    with pytest.raises(ResourceError, match="job tune has no console page"):
        place_of(JOB, "console", "", "")


def test_tensorboard_reads_the_jobs_logs_and_those_of_every_trial() -> None:
    plain = replace(JOB, output="gs://work/jobs/one")
    assert place_of(plain, "tensorboard", "", "") == (("tensorboard --logdir gs://work/jobs/one/logs",), "")
    tuned = replace(plain, kind=TUNING_JOB)
    assert place_of(tuned, "tensorboard", "", "") == (("tensorboard --logdir gs://work/jobs/one",), "")


def test_what_can_be_typed_stays_one_word_in_a_shell() -> None:
    assert place_of(JOB, "tensorboard", "", "") == (("tensorboard --logdir 'gs://work/jobs/tune 1/logs'",), "")


@pytest.mark.parametrize("what", ["output", "tensorboard"])
def test_a_job_without_output_has_neither(what: str) -> None:
    with pytest.raises(ResourceError, match="job tune has no output directory"):
        place_of(replace(JOB, output=""), what, PAGE, "p")


def test_it_prints_where_nobody_sits_before_a_terminal(stack: Stack) -> None:
    job = stack.run("submit", "hello", "--output", "json").json["job"]
    name = job["displayName"]
    assert stack.run("jobs", "open", name, "--what", "output").out == f"{job['output']}\n"
    shown = stack.run("jobs", "open", name, "--what", "tensorboard", "--print")
    assert shown.out == f"tensorboard --logdir {job['output']}/logs\n"
    document = stack.run("jobs", "open", name, "--what", "output", "--output", "json").json
    assert document["kind"] == "place" and document["lines"] == [job["output"]] and document["link"] is None
    refused = stack.run("jobs", "open", name)
    assert (
        refused.code == 4 and "has no console page" in refused.err and f"fix: slipway jobs show {name}" in refused.err
    )
