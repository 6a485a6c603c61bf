"""A session as a list shows it. # N25"""

from dataclasses import replace
from datetime import UTC, datetime

from slipway.using.jobs.cost import job_cost
from slipway.using.sessions.listing import SessionRow
from slipway.using.sessions.session import LastRun, Session
from tests.builders import jobs

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_machines_of_several_roles_are_counted_together() -> None:
    one = jobs.job(
        "script-1",
        env={"SLIPWAY_PARAMETERS": '{"command": "python -m slipway_session --at gs://b/s --idle 9 --max 9"}'},
    )
    job = replace(one, worker_pools=one.worker_pools * 2)
    session = Session.of(job)
    assert session
    row = SessionRow(session, LastRun(0, None, None, None), job_cost(job, job.region, NOW), NOW)
    assert row.holds == f"2 {one.machines[0].machine.type}"
