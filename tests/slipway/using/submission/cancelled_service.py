"""The model of the service where somebody elsewhere cancels amid a call of the sender, who types the command again."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from slipway.base.errors import AnswerUnknown, Cancelled, ResourceError
from slipway.google.failures import CloudError, Refused
from slipway.using.submission.cancelling import cancel_job, with_copies, withheld
from slipway.using.submission.submission_result import SubmissionResult

from .fallback_command import catalog
from .service import Context, Killed, Service, is_passing


@dataclass
class CancelledService(Service):
    """Somebody cancels a job amid the `cancel_at`-th call of the sender: before it is done, or `after` that. `newest`:
    the submission's newest job, not its first. `kills`: the sender does nothing more."""

    cancel_at: int = 0
    after: bool = False
    newest: bool = False
    kills: bool = False
    calls: int = 0
    cancelled: bool = False
    elsewhere: bool = False
    ran_before: tuple[str, ...] = ()

    @property
    def context(self) -> Any:
        return Context(self, catalog(launcher=self.launcher))

    @contextlib.contextmanager
    def _call(self, kind: str) -> Iterator[None]:
        if self.elsewhere:
            yield
            return
        self.calls += 1
        if self.calls == self.cancel_at and not self.after:
            self.cancel_one()
        with super()._call(kind):
            yield
        if self.calls == self.cancel_at and self.after:
            self.cancel_one()

    def cancel_one(self) -> None:
        if not self.jobs:
            return
        self.elsewhere = True
        context = self.context
        seen = context.vertex.job(self.jobs[-1 if self.newest else 0].name)
        going = withheld(context, with_copies(context, seen, lambda _: None), lambda _: None)
        ran = tuple(self.runs)
        for job in going:
            with contextlib.suppress(ResourceError, Refused):
                cancel_job(context.vertex, job, context.now)
                self.cancelled, self.ran_before = True, ran
        self.elsewhere, self.dead = False, self.dead or self.kills


def typed(service: Service, command: Callable[[bool], SubmissionResult]) -> SubmissionResult | None:
    """Type a command, again after each kill and each error that passes; return how it ended, None for cancelled.
    `command` is told whether it is typed again."""
    for attempt in range(60):
        service.dead = False
        try:
            return command(attempt > 0)
        except (Killed, AnswerUnknown):
            continue
        except Cancelled:
            return None
        except CloudError as problem:
            assert is_passing(problem), problem
    raise AssertionError("it never ended")
