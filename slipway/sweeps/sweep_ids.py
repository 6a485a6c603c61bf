"""Under which id a sweep was sent before: an earlier version may have given it another one, and whoever asks for the
same runs in another way makes another sweep of them, which must be meant."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor

from slipway.context import Context
from slipway.errors import ConfigError
from slipway.sweeps.sweep_identity import instead
from slipway.sweeps.sweep_jobs import SweepJobs
from slipway.sweeps.sweep_journal import journal_of_sweep, was_begun
from slipway.sweeps.sweep_plan import SweepPlan


def look_for_ids(context: Context, plan: SweepPlan, jobs: SweepJobs, threads: Executor) -> Callable[[], str]:
    """Begins to look. What it returns waits for the answers, and gives the id that an earlier version sent the sweep
    under, empty where none did; it raises ConfigError where its runs were sent as a sibling of it, and CloudError."""

    def begun(id_: str) -> bool:
        return was_begun(journal_of_sweep(context, id_)) or jobs.any_under(id_)

    found = {id_: threads.submit(begun, id_) for id_ in (*plan.earlier, *plan.siblings)}

    def result() -> str:
        for id_ in plan.earlier:
            if found[id_].result():
                return id_
        for id_, other in plan.siblings.items():
            if found[id_].result():
                raise ConfigError(
                    f"these runs were sent before, as sweep {id_}",
                    why="asked for in another way they are another sweep, and each would run once more",
                    fix=(
                        "to go on with that one: ",
                        *instead(plan.groups[0].asked, other),
                        "\nto run them all once more: ",
                        {"request_id": "NAME"},
                    ),
                )
        return ""

    return result
