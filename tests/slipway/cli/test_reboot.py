"""`slipway pools reboot`: never with a job on the cluster, watched to its end, and what to do when that is bad. # N2"""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.cli.pools.reboot import Watching, reboot, refuse
from slipway.cloud.clusters import Operation, PersistentResource
from slipway.errors import Timeout
from tests.slipway.creation.vertex import OPERATION, RUNS, Script, Step, Waits, cluster, unanswered

from .stack import SLEEP, Stack

ADMIN = "roles/aiplatform.admin"
DONE = Operation(OPERATION.name, done=True)


def test_a_cluster_with_a_job_is_not_rebooted_and_an_idle_one_is(stack: Stack) -> None:
    sent = stack.run("submit", "hello", "-p", f"code={SLEEP}", "--output", "json")
    job = sent.json["job"]["displayName"]
    refused = stack.run("pools", "reboot", "cpu", "--yes")
    assert refused.code == 4
    assert "cluster cpu is not rebooted" in refused.err
    assert f"on {stack.cluster}: {job} (" in refused.err and f"slipway jobs wait {job}" in refused.err
    assert stack.run("jobs", "cancel", job).code == 0
    assert stack.run("jobs", "wait", job).code == 8

    denied = stack.run("pools", "reboot", "cpu", "--yes")
    assert denied.code == 3 and "aiplatform.persistentResources.update" in denied.err
    assert f"ask for {ADMIN} on" in denied.err
    stack.grant(ADMIN)
    nobody = stack.run("pools", "reboot", "cpu")
    assert nobody.code == 2 and "add --yes" in nobody.err
    unknown = stack.run("pools", "reboot", "cpus", "--yes")
    assert unknown.code == 2 and "slipway pools reboot cpu" in unknown.err

    done = stack.run("pools", "reboot", stack.cluster, "--yes", "--output", "json")
    assert done.code == 0, done.said
    assert done.json["kind"] == "reboot" and done.json["id"] == stack.cluster and done.json["cluster"] == "cpu"
    assert f"rebooting cpu ({stack.cluster})" in done.err
    with stack.settings(reboot_error=stack.cluster):
        failed = stack.run("pools", "reboot", "cpu", "--yes")
    assert failed.code == 4 and "error: cluster cpu ended in" in failed.err
    assert "why: Resources are insufficient" in failed.err and f"pulumi up --stack {stack.name}" in failed.err
    shown = stack.run("pools")
    assert f"fix: pulumi up --stack {stack.name}, or slipway pools reboot cpu" in shown.err
    stack.grant(ADMIN, granted=False)


def test_an_adopted_one_is_not_rebooted_and_what_its_owner_types_names_its_project(stack: Stack) -> None:  # N4
    stack.catalog["clusters"]["cpu"]["adopted"] = True
    stack.publish()
    refused = stack.run("pools", "reboot", "cpu", "--yes")
    assert (
        refused.code == 4 and "error: cluster cpu is adopted," in refused.err and "so it is not rebooted" in refused.err
    )
    assert f"reboot {stack.cluster} --region=us-central1 --project={stack.catalog['project']}\n" in refused.err


class Rebooted(Script):
    """Its reboot is answered with `posts`, its operation is over at the second look."""

    def reboot_persistent_resource(self, cluster: str) -> Operation:
        self.asked.append(f"REBOOT {cluster}")
        answer = self.posts[0]
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, Operation)
        self.ends = DONE
        return answer


def watched(
    posts: list[Step], looks: list[Step], timeout: float | None = None, state: str = "RUNNING"
) -> tuple[Rebooted, list[str], float]:
    vertex, waits, said = Rebooted(posts, looks), Waits(), [""][:0]
    watching = Watching(said.append, waits.now, lambda seconds: waits.slept.append(seconds), timeout)
    took = reboot(vertex, "cpu", PersistentResource(RUNS.name, state, {}, ()), "dev", watching)
    return vertex, said, took


def test_progress_is_told_once_a_minute(snapshot: SnapshotAssertion) -> None:
    _, said, took = watched([OPERATION], [*[cluster("REBOOTING")] * 12, RUNS])
    assert took == 1 + 2 + 4 + 8 + 8 * 10
    assert said == snapshot


def test_a_lost_answer_is_looked_up_and_the_reboot_is_not_sent_again() -> None:
    vertex, _, _ = watched([unanswered()], [cluster("REBOOTING"), cluster("REBOOTING"), RUNS])
    assert vertex.sent == ["REBOOT cpu-1a2b3c4"]
    with pytest.raises(Exception, match="could not create"):
        watched([unanswered()], [RUNS])


def test_a_wait_that_is_over_says_that_the_reboot_goes_on() -> None:
    with pytest.raises(Timeout, match="still rebooting after 20 s") as caught:
        watched([OPERATION], [cluster("REBOOTING")], timeout=20)
    assert caught.value.exit_code == 9 and "slipway pools" in caught.value.fix


def test_the_same_command_waits_for_a_reboot_that_is_going_on_and_asks_for_no_other() -> None:
    going = PersistentResource(RUNS.name, "REBOOTING", {}, ())
    refuse("cpu", going, ())
    vertex, said, _ = watched([OPERATION], [cluster("REBOOTING"), RUNS], state="REBOOTING")
    assert vertex.sent == [] and said == ["cpu (cpu-1a2b3c4) is rebooting already"]
