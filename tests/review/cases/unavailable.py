"""Capacity types that nobody can have for now: quota, teams, machines and dates."""

from tests.review.case import Case, more, template, warns
from tests.review.edits import PARALLEL, STUDIED

CASES = (
    Case(
        "More trials at once than the pool has machines, and one job fits it still",
        (template("tune", 'parallel_trials="${parallel}"', "parallel_trials=24"), template("tune", PARALLEL, "")),
        (warns("submission-changed", "tune"), warns("submission-rejected", "tune"), warns("offer-unavailable", "tune")),
        given=(more("tune", 'capacity_types=("pool", "spot")'), template("tune", "int, default=8", "int, default=40")),
        world=STUDIED,
        may=("submission-changed",),
    ),
)
