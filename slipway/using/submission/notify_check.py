"""The secret of `--notify` before a job is sent: whether it is there, never its value."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass

from slipway.base.errors import ConfigError
from slipway.google.failures import Call, CloudError, NotFound, needs_role
from slipway.model.secret import secret_version
from slipway.using.context import Context


@dataclass(frozen=True)
class NotifyCheck:
    """A look at a secret's version that has begun."""

    version: str
    #: None where it is there.
    problem: Future[CloudError | None]

    @classmethod
    def begin(cls, context: Context, secret: str, threads: Executor) -> NotifyCheck | None:
        """Begin a look; None where no secret is named, and nothing is read."""
        if not secret:
            return None
        version = secret_version(secret, context.catalog.project)
        return cls(version, threads.submit(_problem, context, version))

    def check(self, tell: Callable[[str], None]) -> None:
        """Raises ConfigError for a secret that is not there. Tells where that is not known."""
        problem = self.problem.result()
        if isinstance(problem, NotFound):
            raise ConfigError(
                f"nothing was sent: there is no {self.version}",
                why="the job would tell nobody how it goes",
                fix="correct the secret's name, or make it: docs/follow.md",
            )
        if problem:
            tell(f"--notify not checked: {problem.message}{needs_role(problem)}")


def _problem(context: Context, version: str) -> CloudError | None:
    connection, call = context.hurried, Call(f"look for {version}", "secretmanager.versions.get", version)
    try:
        connection.session.get(f"{connection.endpoints.of('secrets')}{version}", call)
    except CloudError as problem:
        return problem
    return None
