"""The step after a failed request, the same for a submission and for a sweep. # N7 # N9"""

import pytest

from slipway.google.failures import QUOTA_TOO_SMALL, Answer, CloudError, NoAnswer, Unreachable, failure
from slipway.using.submission.delivery import RetryPolicy, Step, after

from .service import CALL


def refused(status: int, message: str = "no", retry_after: float | None = None) -> CloudError:
    return failure(CALL, Answer(status, "", message, retry_after=retry_after))


@pytest.mark.parametrize(
    ("problem", "trouble", "step"),
    [
        (refused(429), 0.0, "resend"),
        (refused(503, retry_after=3.0), 119.0, "resend"),
        (refused(503, retry_after=3.0), 121.0, "stop"),
        (Unreachable(CALL), 0.0, "resend"),
        (refused(401), 0.0, "stop"),
        (refused(403), 0.0, "stop"),
        (refused(404), 0.0, "stop"),
        (refused(400), 0.0, "refuse"),
        (refused(429, QUOTA_TOO_SMALL), 0.0, "refuse"),
        (refused(408), 0.0, "look"),
        (refused(503), 0.0, "look"),
        (NoAnswer(CALL, "lost"), 0.0, "look"),
    ],
    ids=str,
)
def test_only_what_is_proven_not_accepted_is_sent_again(problem: CloudError, trouble: float, step: Step) -> None:
    assert after(problem, RetryPolicy(), trouble) is step


def test_without_a_connection_it_is_tried_a_few_times() -> None:
    policy = RetryPolicy(resend_unreachable=3)
    steps = [after(Unreachable(CALL), policy, 0.0, attempts) for attempts in (1, 2, 3)]
    assert steps == ["resend", "resend", "stop"]
