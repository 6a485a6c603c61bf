"""`slipway doctor` on a local cloud that other tests use too, so each looks at its own stack's findings. # N10"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.base import codec
from slipway.front.cli.doctor import document
from slipway.front.cli.terminal.findings import SIGNS, below
from slipway.google.live import Unknown
from slipway.model.findings.finding import Section
from slipway.model.findings.kinds import KINDS
from slipway.model.season import Season
from slipway.operating.doctor.examination import examine
from slipway.operating.doctor.place import find
from slipway.operating.doctor.reading import picture as picture_of
from slipway.using.context import Clock, Context
from tests.checkouts.shell import Done
from tests.local.conftest import ROOT
from tests.slipway.operating.doctor.picture import picture

from .stack import PROJECT, REGION, SLEEP, UNSET, Stack
from .test_schedule import deployed


def told(done: Done, stack: Stack) -> dict[tuple[str, str], dict[str, Any]]:
    """What is about the stack, by id and subject."""
    return {
        (one["id"], one["subject"]): one
        for one in done.json["findings"]
        if stack.name in json.dumps(one) or not one["subject"].startswith(("cluster", "job"))
    }


def test_what_is_found_with_a_catalog_alone_and_in_a_checkout(stack: Stack) -> None:
    # The stack's own cluster has no labels: it is as if somebody else had made it. # N2
    done = stack.run("doctor", "--output", "json")
    assert done.code == 4, done.err
    found = told(done, stack)
    taken = found["name-taken", f"cluster {stack.cluster}"]
    assert taken["grade"] == "broken" and "persistent-resources delete" in taken["mend"]
    assert (done.json["stack"], done.json["project"], done.json["region"]) == (stack.name, PROJECT, REGION)
    unread = ["the state", "whether the catalog is that of the newest commit"]
    assert [one.partition(":")[0] for one in done.json["notLookedAt"]] == unread

    # Well again; a role is missing, which is a note.
    id_ = deployed(stack, Season())
    stack.delete_cluster()
    stack.act_as_trainer(False)
    unseen = found["role-missing", "role roles/iam.securityReviewer"]
    assert unseen["mend"] == f"ask for roles/iam.securityReviewer on project {PROJECT}"
    assert f"bucket c-{stack.name}, bucket w-{stack.name}" in unseen["sentence"]
    done = stack.run("doctor", "--output", "json")
    assert [one for key, one in told(done, stack).items() if one["grade"] == "broken"] == []
    found = told(done, stack)
    missing = found["role-missing", f"role roles/iam.serviceAccountUser {stack.trainer}"]
    assert missing["mend"] == f"ask for roles/iam.serviceAccountUser on {stack.trainer}"

    # In a checkout.
    (stack.folder / "stacks").mkdir()
    (stack.folder / "Pulumi.yaml").write_text("name: slipway\nruntime: python\n")
    (stack.folder / "stacks" / f"Pulumi.{stack.name}.yaml").write_text(
        f"config:\n  gcp:project: {PROJECT}\n  gcp:region: {REGION}\n"
        f"  slipway:workspace: {{catalogBucket: c-{stack.name}}}\n"
    )
    # Its state does not know the cluster.
    engine = stack.folder / "engine" / "pulumi"
    engine.parent.mkdir()
    engine.write_text('#!/bin/sh\necho \'{"deployment": {"resources": []}}\'\n')
    engine.chmod(0o755)
    of_engine = {"PATH": f"{engine.parent}:{os.environ['PATH']}", "PULUMI_BACKEND_URL": "gs://states"}
    found = told(stack.run("doctor", "--output", "json", **of_engine), stack)
    assert ("cluster-in-no-state", f"cluster {id_}") in found

    # Elsewhere than was thought; and without the right to see clusters.
    engine.write_text("#!/bin/sh\necho 'error: no stack named x found' >&2; exit 255\n")
    stack.grant("roles/aiplatform.user", False)
    done = stack.run("doctor", "--stack", stack.name, **of_engine)
    assert done.code == 4
    assert "can't be read: aiplatform.googleapis.com persistentResources.list" in done.out
    assert f"for roles/aiplatform.viewer on project {PROJECT}" in done.out
    assert f"✗ the backend gs://states has no stack {stack.name}, and its catalog" in done.out
    assert f"have roles/aiplatform.user on project {PROJECT}" in done.out
    assert id_ not in done.out and "not looked at" not in done.err
    assert f"stack {stack.name} in {PROJECT}, {REGION}: " in done.err


def test_dates_are_judged_by_the_cloud_s_clock_and_exposure_is_seen_by_who_may(stack: Stack) -> None:
    def ahead() -> datetime:
        return datetime.now(UTC) + timedelta(days=40)

    stack.bind_bucket(f"w-{stack.name}", "roles/storage.objectViewer", "allUsers")
    environ = {key: value for key, value in stack.env("owner").items() if value != UNSET}
    context = Context(environ=environ, folder=stack.folder, clock=Clock(now=ahead))
    seen = picture_of(context, find(context, None), print)
    assert abs(seen.now - datetime.now(UTC)) < timedelta(days=1) and "40 days ahead of the" in str(seen.clock)
    assert not isinstance(seen.recent, Unknown) and seen.recent_since < datetime.now(UTC)
    (one,) = (one for one in examine(seen) if one.kind == "exposed")
    assert one.fix.endswith(f"gs://w-{stack.name} --member=allUsers --role=roles/storage.objectViewer")


def test_a_stack_that_no_file_names(standing: Stack) -> None:
    done = standing.run("doctor", "--stack", "prod")
    assert done.code == 2 and "file of stack 'prod' here" in done.err
    assert "slipway doctor --catalog gs://" in done.err


def test_a_webhook_is_told_after_the_findings_are_shown_and_its_address_is_not(stack: Stack) -> None:
    done = stack.run("doctor", SLIPWAY_WEBHOOK="http://127.0.0.1:9/T0KEN", XDG_STATE_HOME=str(stack.folder))
    assert done.code != 0 and done.err.index("1 broken") < done.err.index("the webhook could not be told")
    assert "T0KEN" not in done.said


def test_the_document_has_every_field_of_a_finding(snapshot: SnapshotAssertion) -> None:
    seen = picture(published=None)
    body = codec.document(document(seen, examine(seen)))
    assert body["findings"] == snapshot
    assert len(body["shape"]) == 12 and body["notLookedAt"] == []


@pytest.mark.parametrize(("columns", "lines"), [(None, 1), (200, 1), (60, 2)])
def test_what_a_mend_means_never_stands_in_the_way_of_copying_it(columns: int | None, lines: int) -> None:
    (one,) = examine(picture(commits=("1234567 x",)))
    shown = below(one, columns)
    assert len(shown) == lines and shown[0].startswith("    mend: pulumi up --stack prod")
    assert shown[-1].endswith("--stack prod says what changes")


def test_the_guide_has_every_kind_with_its_grade() -> None:
    page = (ROOT / "docs" / "findings.md").read_text("utf-8")
    for kind in (one for one in KINDS.values() if one.section is Section.HEALTH):
        assert f"| {SIGNS[kind.usual][0]} | `{kind.word}` | {kind.means} |" in page, kind.word


def test_a_job_that_sleeps_is_found(moved: Stack) -> None:  # Z5
    stack, cloud = moved, moved.cloud
    cloud.rest("POST", "/vertex-local/settings", {"monitoring_seconds": 0.1})
    stack.well("submit", "hello", "-p", f"code={SLEEP}")
    stack.until(lambda: stack.jobs()[0]["state"] == "JOB_STATE_RUNNING")

    def samples() -> int:
        wanted = 'metric.type="ml.googleapis.com/training/cpu/utilization" AND resource.type="cloudml_job"'
        times = "interval.startTime=2020-01-01T00:00:00Z&interval.endTime=2090-01-01T00:00:00Z"
        answer = cloud.rest("GET", f"/v3/projects/{PROJECT}/timeSeries?{times}&filter={wanted}")
        return sum(len(one["points"]) for one in answer.get("timeSeries", []))

    def sampled() -> None:
        before = samples()
        stack.until(lambda: samples() > before)

    def found() -> dict[str, Any]:
        document = stack.run("doctor", "--output", "json", role="owner").json
        return {one["id"]: one for one in document["findings"]}

    sampled()
    for minutes in (4, 12):
        assert "job-idle" not in found()
        cloud.rest("POST", "/vertex-local/clock", {"advance": 60 * minutes})
        sampled()
    assert "job-idle" not in found(), "it has run for as long, and samples may come late"
    cloud.rest("POST", "/vertex-local/clock", {"advance": 60 * 3 + 30})
    sampled()
    stack.until(lambda: "job-idle" in found())  # The date that answers bear follows the clock within a second.
    (job,) = stack.jobs()
    sentence = found()["job-idle"]["sentence"]
    assert job["displayName"] in sentence and "under 5 %" in sentence and "15 min" in sentence
