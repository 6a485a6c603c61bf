"""Scenarios as people write them (TOML, or the same keys in JSON), checked as a whole."""

import difflib
import re
from collections.abc import Mapping
from typing import Any

from .. import identities
from . import gpu_recording, machines
from .scenario import STRATEGIES, Chance, Entry, Playback, Preemption, Reservation, Scenario

_PATH = re.compile(r"projects/([^/]+)/zones/([a-z0-9-]+-[a-z])/reservations/[a-z]([a-z0-9-]*[a-z0-9])?")
_REPLICA = re.compile(r"workerpool[0-3]-\d+")
_WORDS: Mapping[type, str] = {int: "a whole number", float: "a number", str: "text"}


class ScenarioError(Exception):
    """An invalid scenario; the text names the key and a valid value."""


def parse(document: Mapping[str, Any]) -> Scenario:
    """Return the scenario in a document of `supply`, `spot`, `reservations`, `gpus`. Raises ScenarioError."""
    table = _Table("", document, ("supply", "spot", "reservations", "gpus"))
    spot = table.table("spot", ("preempt", "random", "notice"))
    return Scenario(
        supply=tuple(map(_entry, table.tables("supply", ("at", "region", "machine", "strategy", "machines")))),
        preemptions=tuple(map(_preemption, spot.tables("preempt", ("job", "replica", "after", "times")))),
        chance=_chance(spot),
        notice_s=_notice(spot),
        reservations={item.path: item for item in _reservations(table)},
        playbacks=tuple(map(_playback, table.tables("gpus", ("job", "csv")))),
    )


def normal_path(path: str) -> str:
    """Return a reservation's path with the project's id, whether id or number was given; blocks within it left off."""
    parts = path.split("/")[:6]
    if len(parts) > 1 and parts[1] == identities.PROJECT_NUMBER:
        parts[1] = identities.PROJECT_ID
    return "/".join(parts)


class _Table:
    """A table of the document under its path, with typed access to its keys."""

    def __init__(self, path: str, content: Any, known: tuple[str, ...]) -> None:
        if not isinstance(content, Mapping):
            raise ScenarioError(f"{path or 'a scenario'} is a table")
        self.path, self._content = path, content
        for key in content:
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                hint = f"did you mean '{near[0]}'?" if near else "known are " + ", ".join(known)
                raise ScenarioError(f"{self.at(key)}: there is no such key; {hint}")

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def has(self, key: str) -> bool:
        return key in self._content

    def value(self, key: str, kind: type, default: Any = None) -> Any:
        if key not in self._content:
            if default is None:
                raise ScenarioError(f"{self.at(key)} is missing: {_WORDS[kind]}")
            return default
        given = self._content[key]
        fits = isinstance(given, (int, float) if kind is float else kind) and not isinstance(given, bool)
        if not fits or (kind is not str and given != given):
            raise ScenarioError(f"{self.at(key)} is {_WORDS[kind]}, not {given!r}")
        return kind(given)

    def least(self, key: str, kind: type, least: float, default: Any = None) -> Any:
        number = self.value(key, kind, default)
        if number < least:
            raise ScenarioError(f"{self.at(key)} is at least {least:g}, not {number}")
        return number

    def raw(self, key: str) -> Any:
        return self._content[key]

    def table(self, key: str, known: tuple[str, ...]) -> "_Table":
        return _Table(self.at(key), self._content.get(key, {}), known)

    def tables(self, key: str, known: tuple[str, ...]) -> list["_Table"]:
        given = self._content.get(key, [])
        if not isinstance(given, list):
            raise ScenarioError(f"{self.at(key)} is a list of tables")
        return [_Table(f"{self.at(key)}[{at}]", item, known) for at, item in enumerate(given)]


def _entry(table: _Table) -> Entry:
    region = table.value("region", str)
    if region not in machines.table().all_regions:
        raise ScenarioError(f"{table.at('region')}: {_unknown(region, machines.table().all_regions)}")
    strategy = table.value("strategy", str, "any")
    if strategy not in STRATEGIES:
        raise ScenarioError(f"{table.at('strategy')} is one of {', '.join(STRATEGIES)}, not '{strategy}'")
    return Entry(
        at=table.least("at", float, 0, 0.0),
        region=region,
        machine=_machine(table),
        strategy=strategy,
        machines=table.least("machines", int, 0),
    )


def _preemption(table: _Table) -> Preemption:
    replica = table.value("replica", str, "workerpool0-0")
    if not _REPLICA.fullmatch(replica):
        raise ScenarioError(f"{table.at('replica')} is a replica's name as in workerpool1-0, not '{replica}'")
    times = table.least("times", int, -1, 1)
    if times == 0:
        raise ScenarioError(f"{table.at('times')} is at least 1, or -1 for always")
    return Preemption(table.value("job", str), replica, table.least("after", float, 0, 0.0), times)


def _chance(spot: _Table) -> Chance | None:
    if not spot.has("random"):
        return None
    table = spot.table("random", ("rate_per_hour", "seed"))
    return Chance(table.least("rate_per_hour", float, 0), table.value("seed", int))


def _notice(spot: _Table) -> float | None:
    if not spot.has("notice") or spot.raw("notice") is False:
        return None
    if spot.raw("notice") is True:
        raise ScenarioError(f"{spot.at('notice')} is false, or the seconds between SIGTERM and SIGKILL")
    seconds: float = spot.least("notice", float, 0)
    return seconds


def _playback(table: _Table) -> Playback:
    try:
        return Playback(table.value("job", str), gpu_recording.parse(table.value("csv", str)))
    except ValueError as error:
        raise ScenarioError(f"{table.at('csv')} is nothing that nvidia-smi recorded: {error}") from error


def _reservations(table: _Table) -> list[Reservation]:
    if not table.has("reservations"):
        return []
    given = table.raw("reservations")
    if not isinstance(given, Mapping):
        raise ScenarioError("reservations is a table")
    return [_reservation(path, content) for path, content in given.items()]


def _reservation(path: str, content: Any) -> Reservation:
    known = ("machine", "accelerator", "accelerator_count", "count", "share", "from", "until")
    table = _Table(f'reservations."{path}"', content, known)
    if not _PATH.fullmatch(path):
        raise ScenarioError(f"{table.path}: a reservation's path is projects/PROJECT/zones/ZONE/reservations/NAME")
    machine = machines.table().types[_machine(table)]
    built_in = machine.attachable[machine.accelerator][0] if machine.accelerator else 0
    accelerator = table.value("accelerator", str, machine.accelerator or "") or None
    reservation = Reservation(
        path=normal_path(path),
        machine=machine.name,
        accelerator=accelerator,
        accelerator_count=table.least("accelerator_count", int, 0, built_in),
        count=table.least("count", int, 0),
        share=table.value("share", str, "ALLOW_ALL"),
        begins=(begins := table.least("from", float, 0, 0.0)),
        ends=table.least("until", float, begins) if table.has("until") else None,
    )
    wrong = machines.table().mistakes(
        reservation.machine, reservation.accelerator, reservation.accelerator_count, reservation.region
    )
    if wrong:
        raise ScenarioError(f"{table.path}: {wrong[0][1]}")
    return reservation


def _machine(table: _Table) -> str:
    name: str = table.value("machine", str)
    if name not in machines.table().types:
        raise ScenarioError(f"{table.at('machine')}: {_unknown(name, tuple(machines.table().types))}")
    return name


def _unknown(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f"'{name}' is not known" + (f"; did you mean '{near[0]}'?" if near else "")
