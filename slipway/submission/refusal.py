"""The meaning of a refusal: whether to send again, what to ask for where quota is too small, and what to wait for where
a cluster does not run. Pure."""

from __future__ import annotations

from slipway.cloud.failures import CloudError, Exhausted, Unreachable
from slipway.cloud.jobs import VertexJob
from slipway.jobs.verdict import Outcome
from slipway.submission.choice import JudgedCandidate
from slipway.submission.request import Request

QUOTA_TOO_SMALL = "exceed quota limits"
"""In a 429: the limit is below what one job needs, so that no waiting helps."""


def worth_again(problem: CloudError) -> bool:
    """Tell whether it was not accepted for a reason that passes: a rate limit, a busy service, a refused connection."""
    if isinstance(problem, Exhausted):
        return QUOTA_TOO_SMALL not in problem.message
    return isinstance(problem, Unreachable) or (problem.status == 503 and problem.not_accepted)


def more_quota(request: Request, message: str) -> str:
    """Say how to ask for the quota that a refusal names, as much of it as the request needs."""
    from slipway.jobs.waiting import draws
    from slipway.quota.metrics import request_command

    drawn = {need.metric: need.amount for need in draws(VertexJob.read(request.body, request.kind))}
    short = [request_command(metric, amount) for metric, amount in drawn.items() if f"/{metric}" in message]
    return "\nand ".join(f"ask for more: {command}" for command in short) or "see what is short: slipway quota"


def lost_account(request: Request, problem: CloudError) -> str:
    """Say what to do where a refusal names the account that the job was to run as; empty for others."""
    account = request.kind.spec_of(request.body).get("serviceAccount", "")
    if not account or account not in problem.message:
        return ""
    return f"{problem.fix}\nif it was deleted: pulumi up --stack {request.stack}, which makes it again".lstrip()


def way_on(problem: CloudError, taken: JudgedCandidate) -> str:
    """Say what passes by itself of a refusal that names no way on; empty where nothing is known to. A cluster that is
    being made or rebooted is tried all the same, as no document says that it takes no jobs."""
    cluster = taken.candidate.offer.cluster
    if not problem.not_accepted or not cluster or taken.verdict.outcome is not Outcome.WAITS:
        return ""
    return f"wait until cluster {cluster} is RUNNING (slipway pools), then submit it again"
