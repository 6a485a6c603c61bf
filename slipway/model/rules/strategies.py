"""Rules of combinations: strategies, persistent resources, waiting."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.base.formatting import join
from slipway.model.capacity import CAPACITY_TYPES, FLEX_START, POOL, RESERVATION, WAIT_BY_THEMSELVES, WEEK
from slipway.model.machines.spec import compared
from slipway.model.machines.table import accelerator, accelerators, models
from slipway.model.rules.rule import Rule, Subject, seconds

FLEX_MODELS = models(flex_start=True)
WAITING_STRATEGIES = frozenset(CAPACITY_TYPES[name].strategy for name in WAIT_BY_THEMSELVES)
STRATEGIES = tuple(row.strategy for row in reversed(tuple(CAPACITY_TYPES.values())) if row.strategy)


def flex_start_has(accelerator_name: str | None) -> bool:
    """Return whether flex-start offers machines with this accelerator."""
    return accelerator_name in accelerators() and accelerator(accelerator_name).flex_start


def _strategy(subject: Subject) -> Iterator[str]:
    if subject.strategy not in STRATEGIES:
        yield f"scheduling.strategy {subject.strategy}: use {', '.join(STRATEGIES)}"
    elif subject.cluster and subject.strategy != "STANDARD":
        yield (
            f"a job on a persistent resource can't be {subject.strategy}: its pools hold ordinary on-demand machines; "
            "drop one of the two"
        )


def _as_its_type(subject: Subject) -> Iterator[str]:
    if subject.capacity_type not in CAPACITY_TYPES:
        return
    wanted = CAPACITY_TYPES[subject.capacity_type].strategy or "STANDARD"
    if subject.strategy != wanted:
        yield f"capacity type {subject.capacity_type} needs strategy {wanted}, the request says {subject.strategy}"
    if subject.capacity_type == POOL and not subject.cluster:
        yield "capacity type pool needs a persistentResourceId"
    if subject.capacity_type == RESERVATION and not any(worker.reserves for worker in subject.workers):
        yield "capacity type reservation: no worker pool names a reservation; give WorkerPool(reservation=…)"


def _flex_machines(subject: Subject) -> Iterator[str]:
    if not subject.is_of(FLEX_START):
        return
    for worker in subject.workers:
        name = worker.machine.accelerator
        if worker.is_tpu:
            yield f"{worker.name} ({worker.machine.type}): flex-start has no TPUs; take on-demand or a reservation"
        elif not flex_start_has(name):
            what = name or "no accelerator"
            yield (
                f"{worker.name} ({worker.machine.type}, {what}): flex-start gives {join(FLEX_MODELS)} machines only "
                "(Google's earlier documentation shows one without GPUs); take another capacity type or machine"
            )
        first = subject.workers[0]
        for what, first_value, value in compared(first.machine, worker.machine):
            if first_value != value:
                yield (
                    f"all worker pools of a flex-start job must have the same machines: {what} of {worker.name} is "
                    f"{value}, of {first.name} {first_value}"
                )


def _timeout(subject: Subject) -> Iterator[str]:
    if "timeout" in subject.scheduling:
        asked = subject.scheduling["timeout"]
        timeout = seconds(asked)
        if timeout is None or timeout <= 0:
            yield f"timeout {asked!r}: give seconds above 0, as in 3600s"
        elif subject.is_of(FLEX_START) and timeout > WEEK:
            yield f"timeout {asked}: a flex-start job runs at most 7 days ({WEEK}s)"


def _wait(subject: Subject) -> Iterator[str]:
    asked = subject.scheduling.get("maxWaitDuration")
    if subject.strategy in WAITING_STRATEGIES:
        if asked is None:
            yield "maxWaitDuration is missing: 86400s is the usual day, 0s waits forever; clients differ without it"
        elif (wait := seconds(asked)) is None or wait < 0:
            yield f"maxWaitDuration {asked!r}: give seconds, as in 7200s; 0s waits forever"
    elif asked is not None:
        who = join(sorted(WAIT_BY_THEMSELVES))
        yield f"maxWaitDuration {asked}: only {who} waits for machines; with {subject.strategy} it has no effect"


def _restart(subject: Subject) -> Iterator[str]:
    if subject.scheduling.get("restartJobOnWorkerRestart") and subject.scheduling.get("disableRetries"):
        yield "disableRetries overrides restartJobOnWorkerRestart: keep one of them"


RULES = (
    Rule("strategy", f"{join(STRATEGIES, 'or')}; STANDARD on a persistent resource.", "2, 4.1", _strategy),
    Rule("strategy-of-its-type", "A request has the strategy of its capacity type.", "4.1", _as_its_type),
    Rule(
        "flex-machines",
        f"All worker pools of a flex-start job have the same disk and machine, with {join(FLEX_MODELS, 'or')}.",
        "4.1, appendix B",
        _flex_machines,
    ),
    Rule("timeout", "The timeout is above 0; a flex-start job runs at most 7 days.", "3.3, 4.1", _timeout),
    Rule(
        "flex-wait",
        f"maxWaitDuration belongs to {join(sorted(WAIT_BY_THEMSELVES))}, is written out there, and 0s is kept.",
        "3.3, 2 (SDK traps)",
        _wait,
    ),
    Rule("restart-flags", "disableRetries and restartJobOnWorkerRestart do not go together.", "3.3", _restart),
)
