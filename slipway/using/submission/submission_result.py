"""Result of a submission, and the display of its way there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from slipway.using.context import Context
from slipway.using.submission.choice import Choice
from slipway.using.submission.prepared import PreparedSubmission
from slipway.using.submission.request import Request
from slipway.using.submission.sender import Attempt
from slipway.using.submission.waiting_attempt import FallbackDisplay


@dataclass(frozen=True)
class SubmissionResult:
    request: Request
    attempt: Attempt
    #: None for a job that was made before.
    choice: Choice | None
    #: Has the attempt's catalog, a later one where the submission fell back after a deployment.
    context: Context


class SubmissionDisplay(FallbackDisplay, Protocol):
    def chosen(self, prepared: PreparedSubmission, choice: Choice) -> None: ...

    def leaves_pool(self, departure: str) -> None:
        """Ask on a terminal whether to leave a pool for billed machines; without a terminal, go on. Raises
        KeyboardInterrupt if the answer is no."""

    def sent(self, submitted: SubmissionResult) -> None: ...
