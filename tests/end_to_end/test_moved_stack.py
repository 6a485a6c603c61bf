"""A region or project that is edited under a living stack: refused in words, before anything is declared. (N1, N4)"""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.checkouts.checkout import PROJECT, REGION, Checkout
from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.journey

ELSEWHERE = "europe-west4"


def edit(checkout: Checkout, key: str, value: str) -> None:
    written: dict[str, Any] = yaml.safe_load(checkout.file.read_text())
    written["config"][key] = value
    checkout.file.write_text(yaml.safe_dump(written, sort_keys=False))


@pytest.mark.parametrize(
    ("key", "old", "new"), [("gcp:region", REGION, ELSEWHERE), ("gcp:project", PROJECT, "slipway-elsewhere")]
)
def test_preview_and_up_refuse_and_a_running_job_goes_on(checkout: Checkout, key: str, old: str, new: str) -> None:
    checkout.up()
    job = checkout.submit("-p", "seconds=600")
    clusters, buckets = checkout.clusters(), checkout.buckets()
    edit(checkout, key, new)
    for verb in ("preview", "up"):
        refused = checkout.pulumi(verb)
        assert refused.code != 0, refused.said
        assert f"stack {checkout.stack} lives in {old} and can't move to {new}, so nothing was changed" in refused.said
        assert f"put {key}: {old} back into stacks/Pulumi.{checkout.stack}.yaml" in refused.said
        assert "SLIPWAY_PURPOSE=destroy pulumi destroy --run-program" in refused.said
        assert "to be created" not in refused.said
    assert (checkout.clusters(), checkout.buckets()) == (clusters, buckets)
    assert checkout.job_state(job["name"]) not in ("JOB_STATE_CANCELLED", "JOB_STATE_FAILED")
    checkout.cloud.cancel(job["name"])
    edit(checkout, key, old)
    unchanged = checkout.pulumi("preview")
    assert unchanged.code == 0, unchanged.said


def test_a_stack_is_taken_down_where_it_lives_whatever_its_file_says(checkout: Checkout) -> None:
    checkout.up()
    job = checkout.submit("-p", "seconds=600")
    clusters, buckets = checkout.clusters(), checkout.buckets()
    edit(checkout, "gcp:region", ELSEWHERE)
    refused = checkout.destroy()
    assert refused.code != 0, refused.said
    assert "the stack is not deleted: 1 job has not ended" in refused.said
    assert (checkout.clusters(), checkout.buckets()) == (clusters, buckets)
    checkout.cloud.cancel(job["name"])
    wait_for(lambda: checkout.job_state(job["name"]) == "JOB_STATE_CANCELLED", "the job ends")
    done = checkout.destroy()
    assert done.code == 0, done.said
    assert checkout.clusters() == {}
