"""The machines that a region can still give, by type and strategy, reserved ones too. All derived, all pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from .scenario import SHARED, Reservation, Strategy

Kind = Literal["none", "any", "specific"]
_NOTHING: Mapping[str, int] = MappingProxyType({})
_UNUSED: Mapping[tuple[str, Strategy], int] = MappingProxyType({})


@dataclass(frozen=True)
class Affinity:
    """The reservations that a worker pool may use: `none`, `any` that fits, or only the `paths` it names."""

    kind: Kind = "none"
    paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class Want:
    """A want of `count` machines of one kind for the worker pool at `index`."""

    index: int
    machine: str
    accelerator: str | None
    accelerator_count: int
    count: int
    affinity: Affinity = field(default_factory=Affinity)


@dataclass(frozen=True)
class Allotment:
    """A machine given to a worker pool, from a reservation (its path) or from the region's."""

    index: int
    machine: str
    reservation: str | None = None


@dataclass(frozen=True)
class Supply:
    """The supply of a region."""

    #: By (machine, strategy or `any`); missing is unlimited.
    limits: Mapping[tuple[str, str], int] = field(default_factory=lambda: MappingProxyType({}))
    #: By (machine, strategy), without reserved machines.
    used: Mapping[tuple[str, Strategy], int] = field(default_factory=lambda: _UNUSED)
    reservations: Mapping[str, Reservation] = field(default_factory=lambda: MappingProxyType({}))
    #: The machines in use of each reservation.
    reserved: Mapping[str, int] = field(default_factory=lambda: _NOTHING)

    def free(self, machine: str, strategy: Strategy) -> int | None:
        """Return the machines left for a strategy, None when there is no bound."""
        bounds = [
            max(self.limits[machine, bound] - used, 0)
            for bound, used in ((strategy, self._taken(machine, strategy)), ("any", self._taken(machine)))
            if (machine, bound) in self.limits
        ]
        return min(bounds, default=None)

    def excess(self, machine: str) -> int:
        """Return the Spot machines in use beyond the present supply, which are to be taken back."""
        spot = self._taken(machine, "spot")
        beyond = max(
            (
                used - self.limits[machine, bound]
                for bound, used in (("spot", spot), ("any", self._taken(machine)))
                if (machine, bound) in self.limits
            ),
            default=0,
        )
        return min(max(beyond, 0), spot)

    def allotted(self, wants: Iterable[Want], strategy: Strategy) -> tuple[Allotment, ...] | None:
        """Return a machine for each replica, all at once, or None. A pool bound to reservations gets no others."""
        left, allotments = self, list[Allotment]()
        for want in wants:
            reserved = left._from_reservations(want)
            rest = want.count - len(reserved)
            if rest and want.affinity.kind == "specific":
                return None
            free = left.free(want.machine, strategy)
            if free is not None and free < rest:
                return None
            given = (*reserved, *[Allotment(want.index, want.machine)] * rest)
            left = left.without(given, strategy)
            allotments += given
        return tuple(allotments)

    def without(self, given: Iterable[Allotment], strategy: Strategy) -> "Supply":
        """Return the supply after these machines were given."""
        used, reserved = Counter(self.used), Counter(self.reserved)
        for item in given:
            if item.reservation is None:
                used[item.machine, strategy] += 1
            else:
                reserved[item.reservation] += 1
        return replace(self, used=used, reserved=reserved)

    def _from_reservations(self, want: Want) -> Sequence[Allotment]:
        if want.affinity.kind == "none":
            return ()
        allotments: list[Allotment] = []
        for path, reservation in self.reservations.items():
            named = want.affinity.kind == "any" or path in want.affinity.paths
            if named and not unfit(reservation, want):
                free = max(reservation.count - self.reserved.get(path, 0), 0)
                allotments += [Allotment(want.index, want.machine, path)] * min(free, want.count - len(allotments))
        return allotments

    def _taken(self, machine: str, strategy: Strategy | None = None) -> int:
        return sum(count for (name, by), count in self.used.items() if name == machine and strategy in (None, by))


def unfit(reservation: Reservation, want: Want) -> str:
    """Return why a reservation is not for these machines, "" when it is: not shared, or not of exactly their kind."""
    if reservation.share != SHARED:
        return f"its service share type is {reservation.share}; it must be {SHARED}"
    given = (reservation.machine, reservation.accelerator, reservation.accelerator_count)
    asked = (want.machine, want.accelerator, want.accelerator_count)
    names = ("machine type", "accelerator type", "accelerator count")
    return "; ".join(
        f"{name} {theirs or 'none'} != {ours or 'none'}"
        for name, theirs, ours in zip(names, asked, given, strict=True)
        if theirs != ours
    )
