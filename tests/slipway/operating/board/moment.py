"""The stack of `bench.month` as it is at the month's end, with something of everything that the page shows."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from bench.month import HOSTILE, NOW, REGION, history
from slipway.deploying.deployment.schedule import Due
from slipway.model.findings.finding import Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.prices import UNKNOWN, Price
from slipway.operating.board.document import as_json, board_of
from slipway.operating.board.now import Gauge, Now, PoolNow, Share, Waiting
from slipway.operating.history.model import History, PastJob
from tests.slipway.operating.board.moment_sweeps import lives_of, sweeps_of

_POOLS = (
    ("h100/workers", 3, 4, "a3-highgpu-8g", "303.09"),
    ("cpu/workers", 10, 10, "n1-standard-8", "4.60"),
    ("cpu/gpu-small", 6, 8, "g2-standard-12", "7.08"),
)
_FINDINGS = (
    KINDS["job-idle"].of(
        Subject("job", "tune-27b-x1"),
        "job tune-27b-x1 has used under 5 % of its machines for 15 min ($101.01/h)",
        "slipway jobs logs tune-27b-x1 --tail 20",
        "shows what it waits for; slipway jobs cancel tune-27b-x1 ends it",
    ),
    KINDS["job-beside-pool"].of(
        Subject("job", "eval-9x2fa7uw"),
        "job eval-9x2fa7uw runs on machines of its own (spot, $0.59/h), and pool cpu/gpu-small has them free",
        "slipway submit eval --capacity pool",
        "the next time",
    ),
    KINDS["job-beside-pool"].of(
        Subject("job", "bad"),
        f"job {HOSTILE[0]} runs on machines of its own (spot, $0.59/h), and pool cpu/w has them free",
    ),
)
_GAUGES = (
    Gauge("H100 GPUs, on-demand", REGION, 24, 32, 0, 32, "ok"),
    Gauge("A3 vCPUs, on-demand", REGION, 624, 832, 0, -1, "ok"),
    Gauge("L4 GPUs, on-demand", REGION, 6, 8, 2, 16, "ok"),
    Gauge("CPUs, on-demand", REGION, 80, 176, 12, 100, "ok now; short by 88 at the maximum"),
    Gauge("PD SSD GB, on-demand", REGION, 1500, 2000, None, None, "not checked"),
)


def board(jobs: int, *, hostile: bool = True) -> dict[str, Any]:
    """Return the document of a month with so many jobs, with all parts of the page."""
    past = history(jobs, hostile=hostile)
    now = now_of(past) if hostile else _shown(now_of(past))
    return as_json(board_of(past, now, sweeps_of(past), lives_of(past)), 2)


def _shown(now: Now) -> Now:
    """Return as much as a picture has room for."""
    return replace(now, findings=now.findings[:2], waiting=now.waiting[1:5], unseen=())


def now_of(history: History) -> Now:
    pools = {pool.name: pool for pool in _pools(history)}
    waiting = tuple(_waiting(job, pools) for job in history.jobs if job.started is None and job.ended is None)
    events = (
        Due("h100", "h100-4b2277a", "season-ends", "", NOW + timedelta(days=29), per_hour=Price(Decimal("101.01"))),
        Due("a100", "a100-4b2277a", "create", "$16.99/h from then on", now=True, per_hour=UNKNOWN),
    )
    due = tuple({**event.document(NOW), "does": event.does} for event in events)
    listed = tuple(finding.document() for finding in _FINDINGS)
    return Now(tuple(pools.values()), waiting, due, _GAUGES, listed, ("the state: there is no checkout here",))


def _pools(history: History) -> Iterator[PoolNow]:
    for name, live, most, machine, price in _POOLS:
        held: dict[str, list[PastJob]] = defaultdict(list)
        for job in history.jobs:
            if job.state == "RUNNING" and f"{job.cluster}/{job.machines[0].pool}" == name:
                held[job.user].append(job)
        shares = [
            Share("busy", sum(job.machines[0].count for job in some), user, tuple(job.display_name for job in some))
            for user, some in held.items()
        ]
        busy = sum(share.machines for share in shares)
        free = max(0, live - busy)
        shares += [Share("free", free), Share("room", most - busy - free)]
        told = tuple(share for share in shares if share.machines)
        yield PoolNow(name, "RUNNING", machine, REGION, busy, busy + free, most, told, None, price)


def _waiting(job: PastJob, pools: Mapping[str, PoolNow]) -> Waiting:
    number, machines = job.name.rsplit("/", 1)[-1], job.machines[0].count
    pool = pools.get(f"{job.cluster}/{job.machines[0].pool}")
    why = _full(pool) if pool else "in the queue of flex-start: 23 h are left"
    on = job.cluster or job.capacity_type
    return Waiting(number, job.display_name, job.user, job.template, on, machines, job.created, why)


def _full(pool: PoolNow) -> str:
    jobs = [(job, share.user) for share in pool.shares for job in share.jobs]
    more = f" and {len(jobs) - 1} more" if len(jobs) > 1 else ""
    return f"pool full: {pool.busy} of {pool.max} machines busy with {jobs[0][0]} ({jobs[0][1]}, 3 h){more}"
