"""The table of capacity types: what each draws and costs, and the name of its strategy. # W6 W7 X7 Z6 N3"""

import subprocess
import sys

import pytest

from slipway.model.capacity import CAPACITY_TYPES, of_job


def test_the_capacity_types_are_the_five() -> None:
    assert tuple(CAPACITY_TYPES) == ("pool", "flex-start", "spot", "on-demand", "reservation")
    assert all(name == row.name for name, row in CAPACITY_TYPES.items())
    draws = {name: row.draws for name, row in CAPACITY_TYPES.items()}
    assert draws["flex-start"] == draws["spot"] == "preemptible", "and never the on-demand metric"  # W6
    assert (draws["pool"], draws["on-demand"], draws["reservation"]) == ("nothing", "on-demand", "unknown")


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
