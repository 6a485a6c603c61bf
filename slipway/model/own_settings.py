"""Settings that one submission adds to its template's: variables, secrets by their names, its longest run, attempts and
machines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from slipway.base.formatting import exact_span, join, unfit
from slipway.model.labels import SETTINGS, record, record_in, recorded, sent_value
from slipway.model.secret import secret_version

OF_SECRET = "__SECRET"
"""The end of a variable that names a secret's version, which the launcher reads: `NAME__SECRET`."""
MOST_RETRIES = 10
"""Beyond these a job that never gets through would only cost."""
OF_JOB = "settings."
"""The beginning of the names of settings that are no variables."""
_NUMBERS = {"max_run": "maxRun", "retries": "retries", "replicas": "replicas"}
_TASKS = ("containerSpec", "pythonPackageSpec")


@dataclass(frozen=True)
class OwnSettings:
    """Settings of one job alone."""

    #: Values by environment variable.
    env: Mapping[str, str] = field(default_factory=dict)
    #: Secrets of Secret Manager by environment variable: names, or full names of versions.
    secrets: Mapping[str, str] = field(default_factory=dict)
    #: Seconds; None for the template's.
    max_run: int | None = None
    #: The attempts after the first, where its code fails; None where nothing is said.
    retries: int | None = None
    #: Equal machines that run the same, where its template has one; None where nothing is said.
    replicas: int | None = None
    #: The exit codes after which there is another attempt; empty for all but 0.
    retry_on: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        given = self.max_run is not None or self.replicas is not None
        return given or bool(self.env or self.secrets or self.retries)

    @property
    def several(self) -> int | None:
        """The replicas, where there are more than one."""
        return self.replicas if (self.replicas or 1) > 1 else None

    def __str__(self) -> str:
        """Return `LR=0.1, WANDB_API_KEY from secret wandb, at most 2 h, 2 retries, 4 replicas`."""
        texts = [f"{name}={value}" for name, value in self.env.items()]
        texts += [f"{name} from secret {secret}" for name, secret in self.secrets.items()]
        texts += [f"at most {exact_span(self.max_run)}"] if self.max_run is not None else []
        codes = f" on exit code {join(map(str, self.retry_on), 'or')}" if self.retry_on else ""
        texts += [f"{self.retries} {'retry' if self.retries == 1 else 'retries'}{codes}"] if self.retries else []
        texts += [f"{self.several} replicas"] if self.several else []
        return ", ".join(texts)

    @property
    def by_name(self) -> Mapping[str, str | int]:
        """Return the settings by unique names: `env.LR`, `secrets.WANDB_API_KEY`, `settings.max_run` (seconds)."""
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        values: dict[str, str | int] = {f"env.{name}": value for name, value in self.env.items()}
        values |= {f"secrets.{name}": secret for name, secret in self.secrets.items()}
        values |= {f"{OF_JOB}{name}": number for name, number in numbers.items() if number is not None}
        if self.retry_on:
            values[f"{OF_JOB}retry_on"] = ", ".join(map(str, self.retry_on))
        return values

    def put_on(self, spec: dict[str, Any], project: str) -> None:
        """Write the settings, and a record of them, into a CustomJobSpec in place; they replace the template's. Of its
        replicas the spec has the number already."""
        if not self:
            return
        named = {f"{name}{OF_SECRET}": secret_version(secret, project) for name, secret in self.secrets.items()}
        replaced = {name for own in (*self.env, *self.secrets) for name in (own, f"{own}{OF_SECRET}")}
        own = [{"name": name, "value": sent_value(value)} for name, value in {**self.env, **named}.items()]
        for pool in spec.get("workerPoolSpecs", ()):
            for task in (pool[key] for key in _TASKS if key in pool):
                task["env"] = [*(entry for entry in task.get("env") or () if entry["name"] not in replaced), *own]
        if self.max_run is not None:
            spec["scheduling"] = {**spec.get("scheduling", {}), "timeout": f"{self.max_run}s"}
        # The launcher reads its retries and a single replica there.
        more: dict[str, Any] = {"retries": self.retries} if self.retries else {}
        more |= {"retryOn": list(self.retry_on)} if self.retries and self.retry_on else {}
        more |= {"replicas": self.replicas} if self.replicas is not None else {}
        record(spec, recorded({"env": self.env, "secrets": self.secrets, "maxRun": self.max_run, **more}), SETTINGS)

    @classmethod
    def read(cls, env: Iterable[str]) -> OwnSettings:
        """Read the record in an environment of `NAME=value`; none for a form that no submission records."""
        found = record_in(env, SETTINGS)
        if not isinstance(found, dict):
            return cls()
        env_, secrets = (found.get(key) for key in ("env", "secrets"))
        numbers = {name: found.get(key) for name, key in _NUMBERS.items()}
        codes = found.get("retryOn", [])
        given = [each for each in (env_, secrets) if isinstance(each, dict) and all(map(_is_text, each.values()))]
        known = isinstance(codes, list) and all(type(code) is int for code in codes)
        if len(given) < 2 or not known or not all(number is None or type(number) is int for number in numbers.values()):
            return cls()
        return cls(env=given[0], secrets=given[1], retry_on=tuple(codes), **numbers)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not unfit(value)
