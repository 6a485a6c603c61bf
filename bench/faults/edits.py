"""Random edits of a stack file, and the jobs that people run meanwhile: the actions of each step, by a seed. Pure."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

_NAMES = ("cpu", "big", "night")
_MACHINES = ("n1-standard-4", "n1-standard-8")
_LONG_AGO, _OVER, _LATER = "2026-01-01", "2026-02-01", "2199-01-01"
Work = Literal["none", "job", "cancel"]


@dataclass(frozen=True)
class Cluster:
    """A cluster of the file. `season` is none, now, over or later."""

    machine: str = _MACHINES[0]
    least: int = 1
    most: int = 2
    generation: int = 1
    season: str = "none"

    def entry(self) -> dict[str, Any]:
        dates = {
            "none": {},
            "now": {"from": _LONG_AGO, "until": _LATER},
            "over": {"from": _LONG_AGO, "until": _OVER},
            "later": {"from": _LATER},
        }[self.season]
        disk = {"type": "pd-ssd", "sizeGb": 100}
        pool = {"machine": self.machine, "disk": disk, "replicas": {"min": self.least, "max": self.most}}
        return {"pools": {"all": pool}, "generation": self.generation, **dates}


@dataclass(frozen=True)
class File:
    """The part of the stack file that changes."""

    clusters: Mapping[str, Cluster] = field(default_factory=lambda: {"cpu": Cluster()})
    template: bool = True

    def keys(self) -> dict[str, Any]:
        """Return the keys for `Checkout.write`."""
        return {
            "persistentResources": {name: cluster.entry() for name, cluster in self.clusters.items()},
            "templates": ["nap"] if self.template else [],
        }


@dataclass(frozen=True)
class Step:
    """A person's step: `edit` as text, the file after it, and the changes of jobs once it is deployed."""

    edit: str
    file: File
    work: Work


def sequence(seed: int, length: int = 4) -> list[Step]:
    """Return the steps of one sequence; the same seed, the same steps. The first deploys one cluster and starts a
    job."""
    chance = random.Random(seed)
    file = File()
    steps = [Step("the first deployment", file, "job")]
    for _ in range(length):
        edit, file = _edited(file, chance)
        steps.append(Step(edit, file, chance.choice(("none", "job", "job", "cancel"))))
    return steps


def _edited(file: File, chance: random.Random) -> tuple[str, File]:
    name = chance.choice(sorted(file.clusters)) if file.clusters else ""
    free = sorted(set(_NAMES) - file.clusters.keys())
    kinds = ["nothing", "template"] + (["add"] * 2 if free else [])
    kinds += ["bounds", "bounds", "machine", "generation", "season", "season", "remove", "remove"] if name else []
    kinds += ["rename"] if name and free else []
    kind = chance.choice(kinds)
    now = file.clusters.get(name, Cluster())
    match kind:
        case "add":
            new = chance.choice(free)
            return f"{new} is added", _with(file, {new: Cluster(most=chance.choice((2, 3)))})
        case "bounds":
            changed = replace(now, least=1, most=chance.choice([most for most in (2, 3, 4) if most != now.most]))
        case "machine":
            changed = replace(now, machine=_MACHINES[now.machine == _MACHINES[0]])
        case "generation":
            changed = replace(now, generation=now.generation + 1)
        case "season":
            changed = replace(now, season=chance.choice([one for one in ("none", "now", "over") if one != now.season]))
        case "remove":
            return f"{name} is removed", _without(file, name)
        case "rename":
            new = chance.choice(free)
            return f"{name} becomes {new}", _with(_without(file, name), {new: now})
        case "template":
            return "the template comes or goes", replace(file, template=not file.template)
        case _:
            return "nothing changes", file
    return f"{name}: another {kind}", _with(file, {name: changed})


def _with(file: File, clusters: Mapping[str, Cluster]) -> File:
    return replace(file, clusters={**file.clusters, **clusters})


def _without(file: File, name: str) -> File:
    return replace(file, clusters={key: value for key, value in file.clusters.items() if key != name})
