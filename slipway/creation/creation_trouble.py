"""Why a cluster was not made this time, and the last words when it is not tried any more."""

from __future__ import annotations

from collections.abc import Mapping

from slipway.cloud.failures import CloudError
from slipway.creation.creation_context import NewCluster
from slipway.errors import PolicyError, ResourceError, SlipwayError
from slipway.findings.finding import Subject
from slipway.findings.kinds import KINDS
from slipway.labels import NAME_LABEL

FAILED = "ended in ERROR"
NEXT_RUN = (
    "run pulumi up again: it finds the cluster by its name and labels, waits for it (up to two hours), "
    "and takes it as it is"
)


class AgainError(Exception):
    """Not made this time; another try may do. `what` happened, `why` in the service's words."""

    def __init__(self, what: str, why: str, error: CloudError | None = None) -> None:
        super().__init__(what)
        self.what, self.why, self.error = what, why, error

    @property
    def exhausted(self) -> bool:
        return self.error is not None and self.error.status == 429

    @property
    def settled(self) -> bool:
        """Nothing is there and nothing is coming, for want of machines or of quota: others may be had."""
        return self.what == FAILED or self.exhausted


def given_up(
    last: NewCluster, tried: Mapping[NewCluster, AgainError], doubt: bool, times: str, rest: str
) -> SlipwayError:
    """`last` was tried last, `tried` are it and the others, in order, with what became of each the last time.

    `doubt`: it may have been made, unseen. `times` tells how often and how long, `rest` what stays behind.
    """
    trouble = tried[last]
    if doubt:
        return ResourceError(
            f"cluster {last.id} may have been made: the request was sent, and no answer told ({times})",
            why=trouble.why,
            fix=f"slipway pools shows whether it is there (it is billed from its start); {NEXT_RUN}",
        )
    exhausted = all(one.exhausted for one in tried.values())
    ask = "slipway quota shows limits and use; then " if exhausted else ""
    first = next(iter(tried))
    how, why = f"it {trouble.what}", trouble.why
    what = f"cluster {last.id} could not be made: {how}"
    told = f"cluster `{first.id}` could not be made: {how} ({why})"
    if len(tried) > 1:
        others = len(tried) - 1
        how = "nor could its alternative" if others == 1 else f"nor could any of its {others} alternatives"
        what = f"cluster {first.id} could not be made, {how}"
        options = [f"{option.called}, {option.machines}: it {one.what}: {one.why}" for option, one in tried.items()]
        why = "\n".join(options)
        told = f"cluster `{first.id}` could not be made, {how}: {'; '.join(one.rstrip('.') for one in options)}"
    out = KINDS["stock-out"].of(Subject("cluster", first.known_by[NAME_LABEL]), told, id=first.id, how=how)
    return (PolicyError if exhausted else ResourceError)(
        f"{what} ({times})",
        why=why,
        fix=f"{ask}run pulumi up again, which tries again; or give it more time in the stack file (`createWithin`), or "
        f"other machines or another region (`alternatives`, or in the place of these); {rest}"
        + (f"\n{last.meanwhile}" if last.meanwhile else ""),
        found=(out,) if trouble.settled else (),
    )
