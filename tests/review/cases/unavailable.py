"""Capacity types that nobody can have for now: quota, teams, machines and dates."""

from tests.review.case import Case, hurts, more, template
from tests.review.edits import PARALLEL, STUDIED

CASES = (
    Case(
        "More trials at once than the pool has machines, and one job fits it still",
        (template("tune", 'parallel_trials="${parallel}"', "parallel_trials=24"), template("tune", PARALLEL, "")),
        (
            hurts("offer-unavailable", "tune pool", "can't use pool `cpu` any more"),
            hurts("parameter-gone", "tune"),
            hurts("study-changed", "tune", "`parallelTrialCount` `24` instead of"),
        ),
        given=(more("tune", 'capacity_types=("pool", "spot")'), template("tune", "int, default=8", "int, default=40")),
        world=STUDIED,
        may=("run-cost",),
        never=("can use pool `cpu`", "disks and account of the template and of a pool alike"),
        accident="trials that waited for machines that the pool could not have",
    ),
)
