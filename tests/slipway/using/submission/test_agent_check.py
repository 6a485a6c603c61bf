"""What agents may still spend, by the jobs of a day. # N3 # N25"""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from slipway.google.jobs import VertexJob
from slipway.model.agents import AgentAllowance
from slipway.model.prices import UNKNOWN, Price
from slipway.using.submission.agent_check import AgentSpending, spent_by_agents
from slipway.using.submission.costs import Spending
from tests.builders.jobs import job
from tests.builders.place import NOW

HOUR = Price(Decimal("2"))


def costs(most: Price, *machines: str) -> Spending:
    return Spending("lora by spot", HOUR, "prod", 0.0, most, frozenset(machines or ("n1-standard-8",)))


@pytest.mark.parametrize(
    ("allowance", "asked", "says"),
    [
        (None, costs(HOUR), "lets no agent spend anything"),
        (AgentAllowance(5), costs(HOUR), ""),
        (AgentAllowance(3.9), costs(HOUR), "it may cost $2.00 until its time limit; agents' jobs of 24 hours take $2"),
        (AgentAllowance(4), costs(HOUR), ""),
        (AgentAllowance(500), costs(UNKNOWN), "it may cost an unknown sum"),
        (AgentAllowance(500, ("n1-standard-8",)), costs(HOUR, "n1-standard-8", "a3-highgpu-8g"), "takes a3-highgpu-8g"),
        (AgentAllowance(500, ("n1-standard-8",)), costs(HOUR), ""),
    ],
)
def test_an_agent_answers_for_what_is_within_its_allowance(
    allowance: AgentAllowance | None, asked: Spending, says: str
) -> None:
    problem = AgentSpending("claude", "prod", allowance, HOUR).problem(asked)
    assert (problem.exit_code == 5 and says in problem.why) if problem else says == ""


def sent(state: str, minutes: float, **fields: Any) -> VertexJob:
    made = job(minutes=minutes, labels={"slipway-capacity-type": "on-demand"}, state=state, **fields)
    return replace(made, name="projects/1/locations/us-central1/customJobs/1")


def test_a_day_s_jobs_count_until_their_ends_or_time_limits() -> None:
    ended = sent("SUCCEEDED", 60, start_time=NOW - timedelta(hours=1), end_time=NOW)
    hour = spent_by_agents([ended], NOW)
    assert hour.known > 0 and hour.complete
    runs, waits = sent("RUNNING", 60, timeout=3 * 3600.0), sent("QUEUED", 1, timeout=3600.0)
    assert spent_by_agents([waits, ended, runs], NOW).known == 5 * hour.known
    assert spent_by_agents([sent("RUNNING", 60, on="cpu-1")], NOW) == Price()
    assert spent_by_agents([sent("RUNNING", 25 * 60)], NOW) == Price()
