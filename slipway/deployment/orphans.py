"""Clusters of a stack that its state lacks, which the engine therefore never deletes, and what to say about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from slipway.cloud.clusters import PersistentResource
from slipway.errors import ConfigError, PolicyError, ResourceError
from slipway.formatting import join
from slipway.generations.current_generation import is_ours
from slipway.live import Unknown
from slipway.state import State

VARIABLE, LEAVE = "SLIPWAY_ORPHANS", "leave"
NOT_DOWN = "the stack is not taken down"


@dataclass(frozen=True)
class Orphan:
    """A cluster that runs, or may come to run, and that nothing but a person or this program will ever delete."""

    project: str
    region: str
    cluster: PersistentResource

    @property
    def id(self) -> str:
        return self.cluster.id

    @property
    def name(self) -> str:
        """The full one."""
        return f"projects/{self.project}/locations/{self.region}/persistentResources/{self.id}"

    def __str__(self) -> str:
        return f"{self.id} ({self.cluster.state.lower()})"


def left(environ: Mapping[str, str]) -> bool:
    """Whether a person insists on leaving them. Raises ConfigError for a word that is not known."""
    word = environ.get(VARIABLE, "")
    if word not in ("", LEAVE):
        raise ConfigError(f"invalid {VARIABLE}={word}", fix=f"{VARIABLE}={LEAVE}, or unset it")
    return word == LEAVE


def orphans(found: Iterable[Orphan], known: State, stack: str) -> tuple[Orphan, ...]:
    """Of all clusters those that the stack made, by labels and id, and that its state lacks."""
    return tuple(one for one in found if is_ours(one.cluster, stack) and not known.has(one.project, one.region, one.id))


def announced(found: tuple[Orphan, ...]) -> str:
    """What a preview says."""
    return (
        f"{_clusters(found)}: made by this stack, and unknown to its state because an up was killed or an answer lost. "
        f"The engine can't delete {_them(found)}, so the program does ({VARIABLE}={LEAVE} leaves {_them(found)})"
    )


def leaving(found: tuple[Orphan, ...]) -> str:
    """What is said to whoever insists: the bill goes on, and how to end it."""
    commands = (
        f"gcloud ai persistent-resources delete {one.id} --project={one.project} --region={one.region}" for one in found
    )
    goes_on = "is left and goes on being billed" if len(found) == 1 else "are left and go on being billed"
    return "\n  ".join([f"{VARIABLE}={LEAVE}: {_clusters(found)} of this stack {goes_on}, until", *commands])


def unasked(found: tuple[Orphan, ...]) -> PolicyError:
    """The error for a destruction of which the program was not told: it has no way to delete them then."""
    return PolicyError(
        f"{NOT_DOWN}: {_clusters(found)} would be left",
        why=f"made by this stack, and unknown to its state because an up was killed or failed; "
        f"{'it is' if len(found) == 1 else 'they are'} billed, and the engine deletes only what the state has",
        fix=f"SLIPWAY_PURPOSE=destroy pulumi destroy --run-program, which deletes {_them(found)} as well\n"
        f"or pulumi up, which takes {_them(found)} over\n{insist(found)}",
    )


def untold(what: str, part: Unknown) -> ResourceError:
    """The error for what must be known before anything is deleted."""
    return ResourceError(
        f"{NOT_DOWN}: can't tell {what}",
        why=str(part),
        fix=f"correct that and run it again\n{VARIABLE}={LEAVE} takes down what the state has; clusters that it "
        "lacks are left and go on being billed",
    )


def insist(found: tuple[Orphan, ...]) -> str:
    """How to leave them, for good or for now."""
    stay = "stays and goes" if len(found) == 1 else "stay and go"
    return f"{VARIABLE}={LEAVE} takes down the rest; {join(one.id for one in found)} {stay} on being billed"


def _clusters(found: tuple[Orphan, ...]) -> str:
    return f"cluster{'' if len(found) == 1 else 's'} {join(map(str, found))}"


def _them(found: tuple[Orphan, ...]) -> str:
    return "it" if len(found) == 1 else "them"
