"""`slipway doctor` on a local cloud that other tests use too, so each looks at its own stack's findings. # N10"""

import json
import os
from datetime import UTC, datetime
from typing import Any

import pytest
from vertex_local.clock import moment_of

from slipway.front.cli.terminal.findings import SIGNS, below
from slipway.model.findings.finding import Section
from slipway.model.findings.kinds import KINDS
from slipway.model.season import Season
from slipway.operating.doctor.examination import examine
from tests.checkouts.shell import Done
from tests.local.conftest import ROOT
from tests.slipway.operating.doctor.picture import picture

from .stack import PROJECT, REGION, SLEEP, Stack
from .test_schedule import deployed

pytestmark = pytest.mark.smoke


def told(done: Done, stack: Stack) -> dict[tuple[str, str], dict[str, Any]]:
    """What is about the stack, by id and subject."""
    return {
        (finding["id"], finding["subject"]): finding
        for finding in done.json["findings"]
        if stack.name in json.dumps(finding) or not finding["subject"].startswith(("cluster", "job"))
    }


def test_what_is_found_with_a_catalog_alone_and_in_a_checkout(stack: Stack) -> None:
    # The stack's own cluster has no labels: it is as if somebody else had made it. # N2
    done = stack.run("doctor", "--output", "json")
    assert done.code == 4, done.err
    found = told(done, stack)
    assert found["name-taken", f"cluster {stack.cluster}"]["grade"] == "broken"
    unread = ["the state", "whether the catalog is that of the newest commit"]
    assert [part.partition(":")[0] for part in done.json["notLookedAt"]] == unread

    # Well again; a role is missing, which is a note.
    id_ = deployed(stack, Season())
    stack.delete_cluster()
    stack.act_as_trainer(False)
    done = stack.run("doctor", "--output", "json")
    assert [value for key, value in told(done, stack).items() if value["grade"] == "broken"] == []
    found = told(done, stack)
    missing = found["role-missing", f"role roles/iam.serviceAccountUser {stack.trainer}"]
    assert missing["mend"] == f"ask for roles/iam.serviceAccountUser on {stack.trainer}"

    # In a checkout.
    (stack.folder / "stacks").mkdir()
    (stack.folder / "Pulumi.yaml").write_text("runtime: python\n")  # the fake catalog has no Pulumi project
    (stack.folder / "stacks" / f"Pulumi.{stack.name}.yaml").write_text(
        f'config:\n  gcp:project: {PROJECT}\n  gcp:region: {REGION}\n  gcp:addPulumiAttributionLabel: "false"\n'
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
    assert f"✗ the backend gs://states has no stack {stack.name}, and its catalog" in done.out
    assert id_ not in done.out and "not looked at" not in done.err
    assert f"stack {stack.name} in {PROJECT}, {REGION}: " in done.err


def test_a_stack_that_no_file_names(standing: Stack) -> None:
    done = standing.run("doctor", "--stack", "prod")
    assert done.code == 2 and "file of stack 'prod' here" in done.err
    assert "slipway doctor --catalog gs://" in done.err


def test_a_webhook_is_told_after_the_findings_are_shown_and_its_address_is_not(stack: Stack) -> None:
    done = stack.run("doctor", SLIPWAY_WEBHOOK="http://127.0.0.1:9/T0KEN", XDG_STATE_HOME=str(stack.folder))
    assert done.code != 0 and done.err.index("1 broken") < done.err.index("the webhook could not be told")
    assert "T0KEN" not in done.said


@pytest.mark.parametrize(("columns", "lines"), [(None, 1), (200, 1), (60, 2)])
def test_what_a_mend_means_never_stands_in_the_way_of_copying_it(columns: int | None, lines: int) -> None:
    (finding,) = examine(picture(commits=("1234567 x",)))
    shown = below(finding, columns)
    assert len(shown) == lines and shown[0].startswith("    fix: make up STACK=prod")
    assert shown[-1].endswith("STACK=prod says what changes")


def test_the_guide_has_every_kind_with_its_grade() -> None:
    page = (ROOT / "docs" / "doctor.md").read_text("utf-8")
    for kind in (finding_kind for finding_kind in KINDS.values() if finding_kind.section is Section.HEALTH):
        assert f"| {SIGNS[kind.usual][0]} | `{kind.word}` | {kind.means} |" in page, kind.word


def test_a_job_that_sleeps_is_found(moved: Stack) -> None:  # Z5
    stack, cloud = moved, moved.cloud
    # A tenth of a second is too short: one tick of the kernel's clock would be five per cent of it.
    cloud.rest("POST", "/vertex-local/settings", {"monitoring_seconds": 0.5})
    stack.well("submit", "hello", "-p", f"code={SLEEP}")
    stack.until(lambda: stack.jobs()[0]["state"] == "JOB_STATE_RUNNING")
    stack.until(lambda: "begun" in stack.run("jobs", "logs", stack.jobs()[0]["displayName"]).out)

    def newest() -> datetime:
        wanted = 'metric.type="ml.googleapis.com/training/cpu/utilization" AND resource.type="cloudml_job"'
        times = "interval.startTime=2020-01-01T00:00:00Z&interval.endTime=2090-01-01T00:00:00Z"
        answer = cloud.rest("GET", f"/v3/projects/{PROJECT}/timeSeries?{times}&filter={wanted}")
        points = [point for series in answer.get("timeSeries", []) for point in series["points"]]
        return max(
            (moment_of(point["interval"]["endTime"]) for point in points), default=datetime.fromtimestamp(0, UTC)
        )

    def found() -> dict[str, Any]:
        document = stack.run("doctor", "--output", "json", role="owner").json
        return {finding["id"]: finding for finding in document["findings"]}

    for minutes in (0, 4, 12, 4):
        # A sample that was on its way when the clock was advanced is none of the new time.
        now = moment_of(cloud.rest("POST", "/vertex-local/clock", {"advance": 60 * minutes})["now"])
        stack.until(lambda now=now: newest() >= now)  # type: ignore[misc]
    cloud.rest("POST", "/vertex-local/settings", {"monitoring_seconds": 0})
    stack.until(lambda: "job-idle" in found())  # The date that answers bear follows the clock within a second.
    assert stack.jobs()[0]["displayName"] in found()["job-idle"]["sentence"]
