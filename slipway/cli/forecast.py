"""What a dry run says besides the request: whether the job would start, wait, or be refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from slipway.cli import screen
from slipway.cli.context import Context
from slipway.cloud.failures import CloudError
from slipway.submit.choosing import choose, passed_over
from slipway.submit.options import Candidate, Prepared
from slipway.submit.survey import Survey


def forecast(context: Context, prepared: Prepared, request_id: str) -> Candidate | None:
    """On stderr, so that stdout holds the request alone. The candidate that would be taken, None where that is not
    known.

    Raises what sending would raise before it sends.
    """
    with ThreadPoolExecutor(8, thread_name_prefix="survey") as threads:
        survey = Survey(
            context.hurried, context.catalog, prepared.candidates, context.now, threads, prepared.template.name
        )
        try:
            choice = choose(prepared.template.name, survey.judge(prepared, request_id))
        except CloudError as problem:
            screen.note(f"not sent; whether it would start is not known: {problem.message}")
            return None
    label, text = choice.taken.candidate.label, choice.taken.verdict.text
    screen.note(f"not sent; {text if text.startswith(f'{label}:') else f'{label}: {text}'}")
    for one in choice.passed:
        screen.note(f"  {passed_over(one)}")
    return choice.taken.candidate
