"""The budget before a job is sent: the amount that the last hourly run found spent. A spent budget may refuse the
job."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from slipway.base import codec
from slipway.base.errors import PolicyError
from slipway.base.formatting import join
from slipway.google.failures import CloudError, NotFound
from slipway.google.storage import Location, Storage
from slipway.model.budget import NAME, STALE, Budget, Ledger, age_words, month_of, shares
from slipway.model.origin import Origin

_LARGEST = 1_000_000
"""The most bytes of a ledger: anybody's bucket may be named."""


def read_ledger(storage: Storage, bucket: str) -> Ledger | str:
    """Return the ledger, or the reason why there is none."""
    try:
        content = storage.read(Location(bucket, NAME), doing="read what is spent of the budget")
        return codec.read(Ledger, codec.from_json(content[:_LARGEST]))
    except NotFound:
        return "no hourly run has told yet what is spent"
    except CloudError as problem:
        return problem.message
    except (ValueError, RecursionError):  # A MalformedError is a ValueError.
        return f"gs://{bucket}/{NAME} can't be read"


def check_budget(
    budget: Budget,
    reading: Ledger | str,
    *,
    origin: Origin,
    stack: str,
    team: str,
    user: str,
    now: datetime,
    tell: Callable[[str], None],
) -> None:
    """Tell what a submission has to know of its budget. Raises PolicyError where the budget is spent and enforced.
    Where the spent amount is not known nothing is refused, except by a limit of 0."""
    ledger = reading if isinstance(reading, Ledger) and reading.about(now) else None
    concerned = list(shares(budget, ledger or Ledger(now, month_of(now), spent=0.0), stack, team, user))
    age = age_words(ledger, now) if ledger else ""
    for share in concerned:
        if share.refuses:
            when, wait = (f"{age}; ", "wait for the next month, or ") if share.limit else ("", "")
            raise PolicyError(
                f"nothing was sent: {share.words}",
                why=f"{when}stack {stack} enforces its budget ({origin.key('slipway:budget')})",
                fix=f"{wait}have {join(map(origin.key, share.keys), 'or')} raised",
            )
    lines = [
        f"warning: {share.words}{f' ({age})' if share.limit else ''}"
        for share in concerned
        if share.warns or share.spent_up
    ]
    if ledger is None:
        why = reading if isinstance(reading, str) else f"what is known is of {reading.month}"
        lines.append(f"budget not checked: {why}; the hourly run of CI tells it, or the deployer: slipway record")
    elif concerned and not lines and ledger.age(now) > STALE:
        lines = [f"what is spent of the budget is known {age}"]
    for line in lines:
        tell(line)
