"""Preemptions, restarts and stock-outs, read out of the service's own lines whatever their exact words."""

import pytest

from slipway.cloud.logging import LogEntry
from slipway.jobs.events import events_of, kind_of


def entry(text: str, task: str = "service", **labels: str) -> LogEntry:
    named = {f"ml.googleapis.com/{name}": value for name, value in labels.items()}
    return LogEntry(None, "", "WARNING", task, task, text, text, named)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The Spot VM of replica workerpool0-0 was preempted.", "preemption"),
        ("The Spot VM of replica workerpool1-3 was preempted, with a notice of 30 s.", "preemption"),
        ("Worker pool 0 replica 1: instance has been preempted", "preemption"),
        ("Restarting the job after preemption (restart 1 of 6) in 60 s, as soon as there are Spot VMs.", "restart"),
        ("The replica workerpool0-0 ended before its work was done; restarting it (restart 1 of 5).", "restart"),
        ("Attempt 1 of the job has failed; retrying the job.", "restart"),
        ("Job was preempted and is being restarted.", "restart"),
        ("STOCKOUT: 2 g2-standard-4 were not available. Resources are insufficient in region: r. …", "stock-out"),
        ("STOCKOUT: Spot VMs were preempted; the job was restarted 6 times. Resources are insufficient.", "stock-out"),
        ("The job is running again.", None),
        ("Job completed successfully.", None),
        ("restart_job_on_worker_restart is set", None),
    ],
)
def test_what_a_line_of_the_service_tells(text: str, kind: str | None) -> None:  # X1, X2
    assert kind_of(entry(text)) == kind


def test_what_a_replica_writes_is_no_event() -> None:
    assert kind_of(entry("I was preempted, restarting", task="workerpool0-0")) is None


def test_an_event_has_the_services_words_and_the_replica_that_it_names() -> None:  # X2
    lines = (entry("The Spot VM of replica workerpool0-12 was preempted.", trial_id="3"), entry("Job is running."))
    (event,) = events_of((*lines, entry("hello", task="workerpool0-0")))
    assert (event.kind, event.replica, event.trial) == ("preemption", "workerpool0-12", "3")
    assert event.text == "The Spot VM of replica workerpool0-12 was preempted."
    (nameless,) = events_of([entry("A Spot VM was preempted")])
    assert nameless.replica == ""
