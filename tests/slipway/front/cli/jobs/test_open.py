"""`slipway jobs open`: where a job's page, output and logs are."""

from dataclasses import replace

import pytest

from slipway.base.errors import ResourceError
from slipway.front.cli.jobs.open import place_of
from slipway.google.jobs import VertexJob
from slipway.model.kinds import TUNING_JOB
from tests.slipway.front.cli.past import Past
from tests.slipway.using.submission.conftest import job as a_job

PAGE = "https://console.cloud.google.com/agent-platform/locations/us-central1/training/4711?project=p"
JOB: VertexJob = replace(a_job(), output="gs://work/jobs/tune 1/")


LOGS = replace(JOB, output="gs://work/jobs/one")
OUTPUT = "https://console.cloud.google.com/storage/browser/work/jobs/tune%201?project=p"


@pytest.mark.parametrize(
    ("job", "what", "place", "lines", "link"),
    [
        (JOB, "console", (PAGE, "p"), (PAGE,), PAGE),
        (JOB, "output", (PAGE, "p"), ("gs://work/jobs/tune 1", OUTPUT), OUTPUT),
        (JOB, "output", ("", ""), ("gs://work/jobs/tune 1",), ""),
        (LOGS, "tensorboard", ("", ""), ("tensorboard --logdir gs://work/jobs/one/logs",), ""),
        # A tuning job's logs are those of every trial.
        (replace(LOGS, kind=TUNING_JOB), "tensorboard", ("", ""), ("tensorboard --logdir gs://work/jobs/one",), ""),
        # What can be typed stays one word in a shell.
        (JOB, "tensorboard", ("", ""), ("tensorboard --logdir 'gs://work/jobs/tune 1/logs'",), ""),
    ],
)
def test_each_place_is_a_line_to_copy_and_a_link(
    job: VertexJob, what: str, place: tuple[str, str], lines: tuple[str, ...], link: str
) -> None:
    assert place_of(job, what, *place) == (lines, link)


@pytest.mark.parametrize(
    ("job", "what", "why"),
    [
        (JOB, "console", "job tune has no console page"),
        (replace(JOB, output=""), "output", "job tune has no output directory"),
        (replace(JOB, output=""), "tensorboard", "job tune has no output directory"),
    ],
)
def test_what_a_job_has_not_is_refused(job: VertexJob, what: str, why: str) -> None:
    with pytest.raises(ResourceError, match=why):
        place_of(job, what, "", "")


def test_it_prints_where_nobody_sits_before_a_terminal(past: Past) -> None:
    name, output = past.fine, past.stack.shown(past.fine)["output"]
    assert past.run("jobs", "open", name, "--what", "output").out == f"{output}\n"
    shown = past.run("jobs", "open", name, "--what", "tensorboard", "--print")
    assert shown.out == f"tensorboard --logdir {output}/logs\n"
    document = past.run("jobs", "open", name, "--what", "output", "--output", "json").json
    assert document["kind"] == "place" and document["lines"] == [output] and document["link"] is None
    refused = past.run("jobs", "open", name)
    assert refused.code == 4 and "has no console page" in refused.err
    assert f"fix: slipway jobs show {name}" in refused.err
