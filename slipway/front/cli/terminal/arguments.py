"""The arguments of `slipway submit`, from which it can be typed again, and its request made."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.errors import ConfigError
from slipway.base.formatting import quoted, seconds
from slipway.model.capacity import POOL
from slipway.using.submission.env_file import read_env_files
from slipway.using.submission.own_labels import checked_note, checked_notify, with_name
from slipway.using.submission.own_settings import checked_settings
from slipway.using.submission.parameters import assignments, waits
from slipway.using.submission.request import RequestOverrides
from slipway.using.submission.submission_request import SubmissionRequest

if TYPE_CHECKING:
    from slipway.google.jobs import VertexJob
    from slipway.using.context import Context
    from slipway.using.submission.like import Likeness

_RUN = re.compile(r"[a-z0-9][a-z0-9-]{0,127}")


@dataclass(frozen=True)
class WaitOptions:
    """The wait for the job's end."""

    waits: bool
    #: The longest wait in seconds; None for any.
    timeout: float | None
    #: Whether state and logs are shown meanwhile.
    follows: bool = False
    #: The timeout as it was typed.
    typed: str = ""

    @classmethod
    def of(cls, *, wait: bool, follow: bool, timeout: str | None, dry_run: bool) -> WaitOptions:
        """Return the options. Raises ConfigError for flags that exclude each other."""
        limit = seconds(timeout) if timeout is not None else None
        if limit is not None and not (wait or follow):
            raise ConfigError(
                "--timeout says how long to wait", why="this command does not wait", fix="add --wait or --follow"
            )
        if dry_run and (wait or follow):
            raise ConfigError("--dry-run sends nothing that could be waited for", fix="leave out --wait and --follow")
        return cls(waits=wait or follow, timeout=limit, follows=follow, typed=timeout or "")


@dataclass(frozen=True)
class SubmitArguments:
    """The words after `slipway submit`, those of each flag together."""

    #: The template's name; empty where there is a job to imitate.
    template: str
    params: tuple[str, ...] = ()
    capacity_type: str | None = None
    pool: str | None = None
    kind: str | None = None
    wait_for: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    code: str | None = None
    sweep: str | None = None
    experiment: str | None = None
    experiment_run: str | None = None
    catalog: str | None = None
    team: str | None = None
    yes: bool = False
    like: str | None = None
    labels: tuple[str, ...] = ()
    note: str | None = None
    shell: bool = False
    notify: str | None = None
    #: NAME=VALUE, or NAME alone for the shell's value, which no message and no command to type repeats.
    env: tuple[str, ...] = ()
    env_files: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    max_run: str | None = None
    retries: int | None = None
    retry_on: tuple[int, ...] = ()
    replicas: int | None = None
    name: str | None = None
    urgent: bool = False
    race: tuple[str, ...] | None = None
    by: str | None = None

    @property
    def words(self) -> list[str]:
        """The command without the words that name or confirm this one submission."""
        words = ["slipway", "submit"]
        words += ["--like", self.like] if self.like else [self.template]
        words += [word for param in self.params for word in ("-p", param)]
        words += [word for wait in self.wait_for for word in ("--wait-for", wait)]
        words += ["--then", ",".join(self.then)] if self.then else []
        words += [word for label in self.labels for word in ("--label", label)]
        words += [word for pair in self.env for word in ("--env", pair)]
        words += [word for file in self.env_files for word in ("--env-file", file)]
        words += [word for pair in self.secrets for word in ("--secret", pair)]
        for flag, value in (
            ("--name", self.name),
            ("--max-run", self.max_run),
            ("--retries", None if self.retries is None else str(self.retries)),
            ("--retry-on", ",".join(map(str, self.retry_on))),
            ("--replicas", None if self.replicas is None else str(self.replicas)),
            ("--capacity", self.capacity_type),
            ("--pool", self.pool),
            ("--as", self.kind),
            ("--code", self.code if self.code != self.like else None),
            ("--sweep", self.sweep),
            ("--experiment", self.experiment),
            ("--experiment-run", self.experiment_run),
            ("--team", self.team),
            ("--note", self.note),
            ("--notify", self.notify),
            ("--by", self.by),
            ("--catalog", self.catalog),
        ):
            words += [flag, value] if value else []
        words += ["--shell"] if self.shell else []
        words += ["--urgent"] if self.urgent else []
        # In front of another flag it takes no word for a region.
        words[2:2] = [] if self.race is None else [f"--race={','.join(self.race)}"]
        return words

    def again(self, request_id: str | None) -> str:
        """Return the command that resumes this submission, or, without its id, the same command."""
        words = self.words
        if self.yes:
            words.append("--yes")
        if request_id:
            words += ["--request-id", request_id]
        return shlex.join(words)

    def request(self) -> SubmissionRequest:
        """Return the request. Raises ConfigError."""
        env = _variables(self.env)
        secrets = assignments(self.secrets, "secret", "--secret", "name=secret")
        overrides = RequestOverrides(
            experiment=_run_name("--experiment", self.experiment),
            experiment_run=_run_name("--experiment-run", self.experiment_run),
            labels=with_name(assignments(self.labels, "label", "--label", "key=value"), self.name),
            note="" if self.note is None else checked_note(self.note),
            shell=self.shell,
            urgent=self.urgent,
            notify="" if self.notify is None else checked_notify(self.notify),
            settings=checked_settings(
                {**read_env_files(self.env_files, secrets, os.environ), **env},
                secrets,
                self.max_run,
                self.retries,
                self.replicas,
                self.retry_on,
            ),
        )
        return SubmissionRequest(
            template=self.template,
            params=assignments(self.params),
            capacity_type=self.capacity_type or (POOL if self.urgent and not self.pool else None),
            pool=self.pool or "",
            kind=self.kind,
            waits=waits(assignments(self.wait_for, "wait", "--wait-for", "type=time")),
            then=self.then,
            overrides=overrides,
            team=self.team or "",
            race=self.race,
        )

    def request_like(self, context: Context, job: VertexJob, swept: Collection[str] = ()) -> Likeness:
        """Print the parts of a job that are taken over, and those that can't be the same any more. `swept`: parameters
        that the points of a sweep give. Raises the errors of `request_like`."""
        from slipway.front.cli.terminal import screen
        from slipway.using.submission.like import request_like

        likeness = request_like(context, job, self.request(), own_code=self.code is not None, swept=swept)
        for line in (*likeness.notes, *(f"  not as it was: {difference}" for difference in likeness.differences)):
            screen.note(line)
        return likeness


def _variables(typed: Collection[str]) -> dict[str, str]:
    """Return variables with their values, those of the shell for names alone. Raises ConfigError."""
    pairs = (word if "=" in word else f"{word}=" for word in typed)
    values = assignments(pairs, "variable", "--env", "name=value")
    return {name: os.environ[name] if name in typed else value for name, value in values.items()}


def _run_name(flag: str, value: str | None) -> str:
    """Return the name of an experiment or of a run in one, empty when none is given. Raises ConfigError."""
    if value is None:
        return ""
    if not _RUN.fullmatch(value):
        raise ConfigError(
            f"invalid {flag} {quoted(value)}",
            why="lower-case letters, digits and -, at most 128, beginning with a letter or digit",
            fix=f"{flag} baseline-2, for example",
        )
    return value
