"""The playing of a journey: once clean, to record its calls and its ending, and once for each point."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from bench.errors import BenchError
from bench.faults import ending, points
from bench.faults.ending import Ending, Outcome
from bench.faults.journeys import BASES, Journey
from bench.faults.points import Point
from bench.faults.proxy import Strike
from bench.faults.report import GOOD, Entry
from bench.faults.stage import SETTINGS, Ran, Stage, stage
from bench.faults.workshop import Workshop
from slipway.google.provider_errors import meanings
from tests.checkouts.shell import wait_for

_MOST_AGAIN = 4
# Lists lag here, so deployments must wait as they do for the service's.
_LAG_S, _LAG = 2.0, {"SLIPWAY_GRACE": "6s"}
# Lines that tell a person what to do: Slipway's own, or those of the engine, its provider or a command. A waiting
# command says how to go on after an interruption; nothing has to be done where it says when it looks again.
TOLD = re.compile(
    r"(?m)^\s*fix: |pulumi cancel|deploy again|run the same command again|the same command|try again|"
    r"vertex-local up|gcloud auth|\(looks at .+ again in |tried again every "
)
_SPOKEN = ("the word is", "the session ends")
"""Words of a job whose code began, and not of its copy."""


@dataclass(frozen=True)
class Clean:
    """A clean run: its points, its ending, and its seconds."""

    journey: Journey
    points: Sequence[Point]
    ending: Ending
    seconds: float

    @property
    def entry(self) -> Entry:
        counted = {"points": len(self.points), "kinds": len({point.kind for point in self.points})}
        return Entry("cleans", self.journey.name, "clean", f"{self.seconds:.1f} s", counted)


class Player:
    """A worker with its stages, a folder each, made on first use."""

    def __init__(self, shop: Workshop, name: str) -> None:
        self._shop, self._name = shop, name
        self._stages: dict[str, tuple[Stage, ExitStack]] = {}
        self._made = 0

    def close(self) -> None:
        for _, closing in self._stages.values():
            closing.close()
        self._stages = {}

    def clean(self, journey: Journey) -> Clean:
        """Return the run without a fault, repeated as later deployments do, until nothing changes."""
        here = self._ready(journey)
        before = ending.of(here.checkouts) if here.kept_jobs else None
        here.proxy.begin()
        began = time.monotonic()
        ran = journey.type(here, journey.variables)
        took, calls = time.monotonic() - began, tuple(here.proxy.calls)
        if (ran.code != 0) != journey.refused or not calls:
            raise BenchError(f"{journey.name}: a clean run ended with {ran.code}:\n{ran.said}")
        journey.between(here)
        for runs in range(1, 3 if journey.refused else 2):
            again = journey.type_again(here, journey.variables, runs)
            if again.code != 0:
                raise BenchError(f"{journey.name}: a second clean run ended with {again.code}:\n{again.said}")
        after = ending.of(here.checkouts)
        if before and not (after.stays and here.jobs_live):
            raise BenchError(f"{journey.name}: a clean run ends the job that runs:\n{ran.said}")
        return Clean(journey, points.of(journey.name, calls, journey.engine), after, took)

    def play(self, clean: Clean, point: Point) -> Entry:
        journey, here = clean.journey, self._ready(clean.journey)
        first = self._struck(here, journey, point)
        reached = here.proxy.struck and (point.fault == "kill-cloud" or here.killed or "kill" not in point.fault)
        here.proxy.begin()
        self._recover(here, point)
        journey.between(here)
        runs, again = 1, first
        extra = {**journey.variables, **(_LAG if point.fault == "lag" else {})}
        while runs <= _MOST_AGAIN and (again.code != 0 or runs == 1):
            again = journey.type_again(here, extra, runs)
            runs += 1
        outcome, why = self._verdict(here, clean, again)
        if outcome != "survived" and again.code == 0 and journey.engine:
            # Retiring clusters go with a later deployment.
            again = journey.type(here, extra)
            runs += 1
            outcome, why = self._verdict(here, clean, again)
        if outcome == "survived" and not all(told(one, point) for one in (first, *here.overtaking)):
            outcome, why = "silent", "the first error does not say what to do"
        elif outcome == "survived" and not reached:
            outcome, why = "absent", "its call did not come, or there was nothing to kill"
        if outcome == "killed":
            self._drop(journey.base)
        said = {"first": first.said[-6000:], "again": again.said[-6000:]} if outcome not in GOOD else {}
        return Entry("points", point.key, outcome, why, {"runs": runs, **said})

    def _struck(self, here: Stage, journey: Journey, point: Point) -> Ran:
        here.overtaking = []
        here.proxy.begin(Strike(point, self._at_once(here, journey, point)))
        extra = {**journey.variables, **(_LAG if point.fault == "lag" else {})}
        return journey.type(here, extra, journey.patience)

    def _at_once(self, here: Stage, journey: Journey, point: Point) -> Callable[[], None]:
        if point.fault == "kill-cloud":
            return here.kill_cloud
        if point.fault.startswith("kill-"):
            return here.kill_of_command(point.fault)
        if point.fault in ("stolen", "again"):
            return here.overtaken(journey.typed(here), journey.role, journey.variables)
        if point.fault == "lag":
            lagging = {"kind": "lagging-list", "match": "^GET .*s$|/[bo]$", "seconds": _LAG_S}
            return lambda: here.cloud.rest("POST", "/vertex-local/faults", {"faults": [lagging]})
        return lambda: None

    def _recover(self, here: Stage, point: Point) -> None:
        """Let the world go on; after a kill, as `make demo` and `pulumi cancel` do it."""
        if point.fault == "kill-cloud":
            here.start_cloud()
        if point.fault.startswith("kill-"):
            here.clear_after_a_kill()

    def _verdict(self, here: Stage, clean: Clean, ran: Ran) -> tuple[Outcome, str]:
        here.cloud.rest("DELETE", "/vertex-local/faults")
        if ran.stuck:
            return "stuck", "the same command does not end"
        if ran.code != 0:
            return "stuck", f"the same command ended with {ran.code} {_MOST_AGAIN} times"
        now = ending.of(here.checkouts)
        now = replace(now, stays=now.stays and here.jobs_live)
        outcome, why = ending.judged(clean.ending, now)
        if outcome == "doubled":
            return ending.judged(clean.ending, _with_who_ran(here, now))
        return outcome, why

    def stage(self, base: str) -> Stage:
        """Return a stage in that state, whatever was played on it before. The clouds of the others, which would only
        take time, are stopped until then; their jobs live on."""
        for one, _ in self._stages.values():
            one.kill_cloud()
        if base not in self._stages:
            self._make(base)
        else:
            self._stages[base][0].put_back()
        return self._stages[base][0]

    def _ready(self, journey: Journey) -> Stage:
        here = self.stage(journey.base)
        if journey.file is not None:
            here.write(journey.file)
        if journey.beside is not None and here.other:
            here.write(journey.beside, here.other)
        return here

    def _make(self, base: str) -> None:
        self._made += 1
        closing = ExitStack()
        here = closing.enter_context(stage(self._shop, f"{self._name}-{self._made}-{base}"))
        try:
            BASES[base](here)
            here.keep()
        except BaseException:
            closing.close()
            raise
        self._stages[base] = (here, closing)

    def _drop(self, base: str) -> None:
        _, closing = self._stages.pop(base)
        closing.close()


def told(first: Ran, point: Point) -> bool:
    """Tell whether the first run said what to do, or nothing had to be said: it went well, or was itself killed.

    An error of the engine or its provider is told by
    `slipway explain`, which CI shows.
    """
    if first.code in (0, -9) or point.fault in ("kill-engine", "kill-cli"):
        return True
    return bool(meanings(first.said.splitlines(), {}) or TOLD.search(first.said))


def _with_who_ran(here: Stage, now: Ending) -> Ending:
    """Return the same once all waiting jobs have ended: among a job and its copies only one runs the person's code."""
    here.cloud.rest("POST", "/vertex-local/clock", {"advance": int(SETTINGS["scale_up_seconds"])})
    waited = [one for one in ending.custom_jobs(here.checkout) if one["labels"].get("slipway-request") != "stays"]
    jobs = [job for job in now.jobs if job.request == "stays"]
    stays = here.checkout.jobs("stays")[0]["name"].rsplit("/", 1)[-1] if jobs else ""
    wait_for(lambda: all("endTime" in here.cloud.rest("GET", f"/v1/{one['name']}") for one in waited), "all jobs end")
    for one in waited:
        name = one["name"]
        said = here.run(("slipway", "jobs", "logs", name.rsplit("/", 1)[-1]), "submitter", {}).said
        request = one["labels"].get("slipway-request", "")
        ran = any(word in said for word in _SPOKEN)
        if f"a copy of job {stays}," in said:  # The job behind one that need not make room: copies of it count as one.
            ran = all(job.request != request for job in jobs)
        jobs.append(ending.Job(request, here.checkout.job_state(name), ran=ran))
    return replace(now, jobs=tuple(jobs))
