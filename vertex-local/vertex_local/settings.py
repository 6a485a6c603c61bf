"""Every unknown of the service's rules, every limit and every delay, as a named setting.

A setting comes from `settings.toml` in the state folder, then from `VERTEX_LOCAL_SET` (`name=value,name=value`),
then from `vertex-local up --set name=value`, which also writes it to the file. `POST /vertex-local/settings` changes
one while the cloud runs.
"""

import difflib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from . import constraints, identities
from .training_settings import TrainingSettings

FILE = "settings.toml"
"""The settings' name in a state folder."""


_MOST_WHOLE = 2**53
_MOST = {int: _MOST_WHOLE, float: 1e8}
"""Beyond these a number fits no database, and a delay leads beyond all years."""
_LEAST_BODY = 1024**2
"""The least limit of a body: below it no setting can be sent any more, not even this one."""


_SERVICE = ".googleapis.com"
_TABLES = ("quota", "groups", "policy", "customers", "custom_constraints", "spot_advice")
"""Settings with names of their own below them: `quota.METRIC`."""


class SettingsError(Exception):
    """A setting that does not exist or has a value that does not fit; the text says which and what would do."""


@dataclass(frozen=True)
class SpotFigures:
    """Compute Engine's advice on Spot machines in a region."""

    obtainability: float = 0.7
    uptime_s: float = 3600.0
    rate: float = 0.12

    @classmethod
    def read(cls, text: str) -> "SpotFigures":
        """Read `0.7 3600 0.12`. Raises ValueError."""
        obtainability, uptime, rate = map(float, text.split())
        if not (0 <= obtainability <= 1 and 0 <= uptime <= _MOST[float] and 0 <= rate <= 1):
            raise ValueError(text)
        return cls(obtainability, uptime, rate)


@dataclass(frozen=True)
class Settings(TrainingSettings):
    """All settings with their defaults (training's are inherited). Limits are per minute and 0 switches one off."""

    # Limits of the service (vertex-rules 3.4), per project and region.
    submissions_per_minute: int = 60
    calls_per_minute: int = 600
    # Log queries (entries:list) a minute and project.
    log_reads_per_minute: int = 60
    # Log lines kept in all; the oldest go first. The service keeps them for 30 days.
    log_entries_kept: int = 200_000
    # Seconds between two looks at what jobs use of their machines; 0 switches them off. The service has a minute.
    monitoring_seconds: float = 5.0
    # Whether quotas have time series of usage and limit; that the service has them for training is not verified.
    quota_series: bool = True
    # A request's body may be this large; the service takes 5 TiB objects.
    body_bytes: int = 2 * 1024**3
    # A job starts where this many bytes are free on the disk; with fewer it fails at its start, in words.
    least_free_bytes: int = 500_000_000
    # Seconds after a job's end until its folder goes, with the log that was read from there.
    job_folder_seconds: float = 3600.0
    # Who is in which group; the service asks the directory.
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: dict(identities.GROUPS))
    # Keys of Cloud KMS that Google's agents may not use, with blanks between; there is no Cloud KMS here.
    keys_unusable: str = ""
    # An organisation's policies: "CONSTRAINT" to its values.
    policy: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # The customer's id of each domain that has one; the service asks the directory.
    customers: Mapping[str, str] = field(default_factory=lambda: dict(identities.CUSTOMERS))
    # An organisation's own constraints: a name to the method that it denies (`customJobs.create` with its API and
    # parents, as discovery documents have it), and after a blank the organisation's words.
    custom_constraints: Mapping[str, str] = field(default_factory=dict)
    # The services that a perimeter restricts, and who a rule of ingress lets in, with blanks between.
    perimeter: str = ""
    perimeter_ingress: str = ""
    # The reason in Cloud Storage's refusal at the perimeter.
    perimeter_storage_reason: str = "forbidden"
    # The services that a person's credentials need a quota project for, with blanks between.
    quota_project: str = ""
    # Whether Vertex AI's refusals by a policy have details beside their words.
    vertex_policy_details: bool = True
    # A policy with an account and a deleted one of its name: `accept` or `reject`.
    deleted_member: str = "accept"
    # Metrics whose limits nobody can change, with blanks between.
    quota_fixed: str = ""
    # Quota limits that differ from the service's defaults: "METRIC" or "METRIC.REGION" to the limit, -1 unlimited.
    quota: Mapping[str, int] = field(default_factory=dict)
    # Spot machines by region: obtainability, the seconds that most stay, the share that is preempted.
    spot_advice: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.body_bytes < _LEAST_BODY:
            raise ValueError(f"'body_bytes' is at least {_LEAST_BODY}, not {self.body_bytes}")
        for name in ("perimeter", "quota_project"):
            for service in getattr(self, name).split():
                if not service.endswith(_SERVICE):
                    raise ValueError(f"'{name}' has services as storage{_SERVICE} with blanks between, not '{service}'")
        if self.deleted_member not in ("accept", "reject"):
            raise ValueError(f"'deleted_member' is accept or reject, not '{self.deleted_member}'")

    def spot_figures(self, region: str) -> SpotFigures:
        text = self.spot_advice.get(region)
        return SpotFigures.read(text) if text else SpotFigures()

    def changed(self, values: Mapping[str, Any]) -> "Settings":
        """Return the settings with some changed; texts are converted. Raises SettingsError."""
        known = {item.name: getattr(self, item.name) for item in fields(self)}
        result: dict[str, Any] = {}
        for name, value in values.items():
            head, _, rest = name.partition(".")
            if head in _TABLES and rest:
                result[head] = {**result.get(head, getattr(self, head)), **_table(head, {rest: value})}
            elif name in _TABLES:
                result[name] = _table(name, value)
            elif name in known:
                result[name] = _converted(name, value, known[name])
            else:
                near = difflib.get_close_matches(name, known, 1)
                hint = f"did you mean '{near[0]}'?" if near else "known are " + ", ".join(sorted(known))
                raise SettingsError(f"there is no setting '{name}'; {hint}")
        try:
            return replace(self, **result)
        except ValueError as error:
            raise SettingsError(str(error)) from error


def load(path: Path, extra: Mapping[str, Any]) -> Settings:
    """Return the settings of a state folder's file (which may be missing) with `extra` on top. Raises SettingsError."""
    return Settings().changed(read(path)).changed(extra)


def read(path: Path) -> dict[str, Any]:
    """Return the file's values as they are. Raises SettingsError when it is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not TOML: {error}") from error


def pairs(text: str) -> dict[str, str]:
    """Return `name=value,name=value` as a mapping. Raises SettingsError when a part has no `=`."""
    result: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals:
            raise SettingsError(f"'{part}' is not of the form name=value")
        result[name.strip()] = value.strip()
    return result


def dump(values: Mapping[str, Any]) -> str:
    """Return values as TOML, with a table for each setting that is one."""
    plain = [f"{name} = {_toml(value)}" for name, value in values.items() if not isinstance(value, Mapping)]
    tables = [
        f"\n[{name}]\n" + "\n".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items())
        for name, value in values.items()
        if isinstance(value, Mapping)
    ]
    return "\n".join([*plain, *tables]) + "\n"


def _toml(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def _converted(name: str, value: Any, example: Any) -> Any:
    kind = type(example)
    if kind is bool:
        words = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}
        if str(value).lower() in words:
            return words[str(value).lower()]
        raise SettingsError(f"'{name}' is true or false, not '{value}'")
    try:
        number = kind(value)
        if kind is int and isinstance(value, float) and number != value:
            raise ValueError
        if kind in (int, float) and not (0 if kind is float else -_MOST_WHOLE) <= number <= _MOST[kind]:
            raise ValueError
        return number
    except (TypeError, ValueError, OverflowError) as error:
        words_for = {int: "a whole number", float: f"a number from 0 to {_MOST[float]:g}"}
        raise SettingsError(f"'{name}' is {words_for.get(kind, 'text')}, not '{value}'") from error


def _table(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise SettingsError(f"'{name}' is a table")
    if name == "quota":
        return {metric: _converted(f"quota.{metric}", limit, 0) for metric, limit in value.items()}
    if name == "spot_advice":
        for region, text in value.items():
            try:
                SpotFigures.read(str(text))
            except ValueError as error:
                raise SettingsError(
                    f"'spot_advice.{region}' is three numbers as 0.7 3600 0.12, not '{text}'"
                ) from error
    if name in ("customers", "custom_constraints", "spot_advice"):
        return {key: str(text) for key, text in value.items()}
    if name == "policy":
        try:
            return {constraint: constraints.parsed(constraint, values) for constraint, values in value.items()}
        except ValueError as error:
            raise SettingsError(str(error)) from error
    if not all(isinstance(members, list | tuple) for members in value.values()):
        raise SettingsError("'groups' has a list of members for each group")
    return {group: tuple(map(str, members)) for group, members in value.items()}
