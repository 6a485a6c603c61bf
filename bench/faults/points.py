"""The points: a call of a clean run, and a fault of the world at it. Pure."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

FAULTS: Mapping[str, str] = {
    "before": "its connection is cut before any work, and nothing gets through any more",
    "lost": "it is done, its answer is lost, and nothing gets through any more",
    "cut": "its connection alone is cut, before any work",
    "429": "it is answered with 429 however often it is sent",
    "503": "it is answered with 503 however often it is sent",
    "timeout": "no answer comes, for longer than anybody waits",
    "slow": "its answer comes a byte at a time, for longer than anybody waits",
    "token": "from then on the token has expired",
    "lag": "from then on lists lag by two seconds",
    "circle": "from then on the pages of this list lead in a circle",
    "stolen": "the deployment stands still; its lock is taken for an expired one, and another runs to its end",
    "again": "the command stands still, and the same one with the same name runs to its end on another machine",
    "kill-cloud": "`kill -9` of the cloud, which is started again",
    "kill-engine": "`kill -9` of the engine",
    "kill-program": "`kill -9` of the program",
    "kill-plugin": "`kill -9` of the provider's plugin",
    "kill-cli": "`kill -9` of the command",
}
"""Faults at a call, as text. All but `cut`, `timeout` and `slow` last until the command ends."""

_NUMBER = re.compile(r"\d{6,}|[0-9a-f]{16,}")
_READS = (":getIamPolicy", ":testIamPermissions", "/v2/entries:list")
_LIST = re.compile(
    r"^GET .*/(customJobs|hyperparameterTuningJobs|trainingPipelines|pipelineJobs|persistentResources|b|o)$"
)


@dataclass(frozen=True)
class Point:
    """A point: the `nth` (from 1) time that `call` comes in a run of `journey`, and the `fault` then."""

    journey: str
    call: str
    nth: int
    fault: str

    @property
    def key(self) -> str:
        return f"{self.journey} · {self.call} · {self.nth} · {self.fault}"

    @property
    def kind(self) -> str:
        """The kind that it shares with the same fault at the same call when that comes again."""
        return f"{self.journey} · {self.call} · {self.fault}"


def signature(method: str, path: str) -> str:
    """Return a call without the parts that differ from run to run: numbers that the service gives, digests, the query's
    pages.

    `POST /v1/…/customJobs/1234567890:cancel` is `POST /v1/…/customJobs/N:cancel`.
    """
    path, _, _ = path.partition("?")
    return f"{method} {_NUMBER.sub('N', re.sub('^/t/[^/]+', '', path))}"


def of(journey: str, calls: Sequence[str], engine: bool) -> list[Point]:
    """Return every point of a clean run whose calls, in their order, had these signatures."""
    seen: Counter[str] = Counter()
    points = []
    for call in calls:
        seen[call] += 1
        points += [Point(journey, call, seen[call], fault) for fault in FAULTS if _can_happen(fault, call, engine)]
    return points


def _can_happen(fault: str, call: str, engine: bool) -> bool:
    """Tell whether this is a fault of its own there.

    A lost answer to a call that changes nothing is none: the world and the caller are as if it had been cut before. A
    stopped caller is overtaken at a call that is about to change something, with all its readings stale.
    """
    match fault:
        case "lost":
            return changes(call)
        case "lag" | "circle":
            return bool(_LIST.match(call))
        case "stolen" | "again":
            return changes(call) and engine == (fault == "stolen")
        case "kill-engine" | "kill-program" | "kill-plugin":
            return engine
        case "kill-cli":
            return not engine
    return True


def named(key: str) -> Point:
    """Return the point of a key. Raises ValueError for an invalid key."""
    parts = key.strip().strip("`").split(" · ")
    if len(parts) != 4 or not parts[2].isdecimal():
        raise ValueError(f"'{key}' is no point: journey · call · number · fault")
    return Point(parts[0], parts[1], int(parts[2]), parts[3])


def changes(call: str) -> bool:
    """Tell whether a call of this signature may change something in the world."""
    return not (call.startswith("GET ") or call.endswith(_READS))


def drawn(points: Iterable[Point], seed: int, tried: Iterable[str] = ()) -> list[Point]:
    """Return the points in the order in which a seed plays them; `tried` has the keys of others, played before.

    Breadth comes first: each kind once before any a second time, and tried ones count. Within such a round calls that
    change something come before reads, then a call's fault in one journey before the same in a second one, and journeys
    take turns.
    """
    every = list(points)
    random.Random(seed).shuffle(every)
    times, elsewhere = Counter(named(key).kind for key in tried), Counter[tuple[int, str, str]]()
    turns, rows = Counter[tuple[int, bool, int, str]](), []
    for point in every:
        around, reads = times[point.kind], not changes(point.call)
        earlier = elsewhere[around, point.call, point.fault]
        turn = turns[around, reads, earlier, point.journey]
        times[point.kind] += 1
        elsewhere[around, point.call, point.fault] += 1
        turns[around, reads, earlier, point.journey] += 1
        rows.append(((around, reads, earlier, turn, point.journey), point))
    return [point for _, point in sorted(rows, key=lambda row: row[0])]
