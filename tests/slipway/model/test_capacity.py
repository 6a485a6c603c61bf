"""The table of capacity types: what each draws and costs, and the name of its strategy. # W6 W7 X7 Z6 N3"""

import subprocess
import sys

import pytest

from slipway.model.capacity import CAPACITY_TYPES, of_job
from slipway.model.rules.strategies import STRATEGIES


def test_the_capacity_types_are_the_five() -> None:
    assert tuple(CAPACITY_TYPES) == ("pool", "flex-start", "spot", "on-demand", "reservation")
    assert all(name == row.name for name, row in CAPACITY_TYPES.items())


@pytest.mark.parametrize(
    ("capacity_type", "draws", "strategy"),
    [
        ("pool", "nothing", None),
        ("flex-start", "preemptible", "FLEX_START"),  # W6: never the on-demand metric
        ("spot", "preemptible", "SPOT"),
        ("on-demand", "on-demand", "STANDARD"),
        ("reservation", "unknown", None),
    ],
)
def test_each_draws_its_quota(capacity_type: str, draws: str, strategy: str | None) -> None:
    assert (CAPACITY_TYPES[capacity_type].draws, CAPACITY_TYPES[capacity_type].strategy) == (draws, strategy)
    assert strategy is None or strategy in STRATEGIES


@pytest.mark.parametrize(
    ("strategy", "label", "reserved", "type_"),
    [
        ("SPOT", "", False, "spot"),
        ("", "", False, "on-demand"),
        ("NEW", "", False, "on-demand"),
        ("STANDARD", "", True, "reservation"),
        ("SPOT", "", True, "spot"),
        ("", "reservation", False, "reservation"),  # any reservation: the request names none
        ("STANDARD", "reservation", False, "reservation"),  # as the service fills it in
        ("", "pool", False, "on-demand"),
        ("", "of-a-newer-version", False, "on-demand"),
        ("SPOT", "on-demand", False, "spot"),  # a copy with another strategy
    ],
)
def test_the_capacity_type_of_a_job_beside_the_pools(strategy: str, label: str, reserved: bool, type_: str) -> None:
    assert of_job(strategy, label, reserved=reserved) == type_


def test_only_flex_start_waits_by_itself() -> None:
    assert [row.name for row in CAPACITY_TYPES.values() if row.waits_by_itself] == ["flex-start"]


def test_waiting_is_not_billed() -> None:  # W7 X7
    assert "waiting is not billed" in CAPACITY_TYPES["flex-start"].billing
    assert "queued or preempted is free" in CAPACITY_TYPES["spot"].billing


def test_todays_rule_is_told_where_an_earlier_page_has_another() -> None:
    assert [row.name for row in CAPACITY_TYPES.values() if row.differs] == ["flex-start", "spot"]
    assert "every machine that Compute Engine offers as Spot" in CAPACITY_TYPES["spot"].differs
    assert "below the on-demand one" in CAPACITY_TYPES["flex-start"].differs


def test_the_command_line_can_import_the_rules_alone() -> None:
    """Submitting checks with them, and must stay quick."""
    program = """
import sys
from slipway.model.rules.table import check
heavy = ("pydantic", "pulumi", "google.protobuf", "google.auth", "google.cloud.aiplatform_v1", "urllib3", "yaml")
print([name for name in heavy if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
