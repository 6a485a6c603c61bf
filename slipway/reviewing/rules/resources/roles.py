"""Roles that a workspace grants, by what they allow, so that they are told to people who know no role by its name; any
other is told by its id. Pure.

By https://docs.cloud.google.com/iam/docs/roles-permissions, shortened to the parts that a reviewer has to weigh.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from slipway.base.formatting import short
from slipway.deploying.engine.grants import Grant

ALLOWS: Mapping[str, Mapping[str, str | tuple[str, str]]] = {
    "": {
        "aiplatform.user": ("submit jobs {and} cancel anybody's in {}", "{and} delete models {and} endpoints"),
        "cloudquotas.viewer": "see the quota of {}",
        "logging.viewer": "read {every} log of {}",
        "monitoring.viewer": "see {every} metric of {}",
    },
    "account": {"iam.serviceAccountUser": "run any code as {}"},
    "bucket": {
        "storage.objectCreator": "write new objects into {}",
        "storage.objectUser": "read, overwrite {and} delete {every} object of {}",
        "storage.objectViewer": "read {every} object of {}",
    },
}
"""By a role's resource, in a grant's own word, empty for a project: roles, less `roles/`. `{}` is replaced by that one
resource, or every such of the project. A headline has the first of two parts."""
_ABOUT = {role: about for about, rows in ALLOWS.items() for role in rows}
_GROWING = (("storage.objectCreator", "storage.objectUser"), ("storage.objectViewer", "storage.objectUser"))
"""Pairs of roles, the second of which allows all that the first does."""
# Roles that let a member act as somebody else, or give away rights beyond its own; and all with an administrator's
# name.
_ABOVE = re.compile(
    r"roles/(owner|editor|iam\.(serviceAccount(OpenId)?TokenCreator|workloadIdentityUser)|(?i:.*admin.*))"
)
_LONGEST = 40
"""The characters of a condition in a sentence."""
_CAN, _CAN_NOT = {"every": "every", "and": "and"}, {"every": "any", "and": "or"}
_OF_ONE = frozenset({"roles/iam.serviceAccountUser", "roles/secretmanager.secretAccessor"})


def allowed(grant: Grant, words: Mapping[str, str] = _CAN) -> tuple[str, ...]:
    """Return `read every object of bucket `results``, and more parts of the sentence; none where the table has no such
    role."""
    role = grant.role.removeprefix("roles/")
    about = _ABOUT.get(role)
    if about is None:
        return ()
    row, of_all = ALLOWS[about][role], about and grant.what in ("", "folder", "organisation")
    on = f"{words['every']} {about} of {grant.on}" if of_all else grant.on
    under = (f"under condition `{short(grant.condition, _LONGEST)}`",) if grant.condition else ()
    return (*(part.format(on, **words) for part in ((row,) if isinstance(row, str) else row)), *under)


def denied(grant: Grant) -> tuple[str, ...]:
    """Return `read any object of bucket `results``, in the form that follows `can no longer`."""
    return allowed(grant, _CAN_NOT)


def covers(larger: Grant, smaller: Grant) -> bool:
    """Tell whether one allows all that the other does, on the same resource."""
    if larger.on != smaller.on or larger.condition:
        return False
    small, large = (one.role.removeprefix("roles/") for one in (smaller, larger))
    return small == large or (small, large) in _GROWING


class Rights(NamedTuple):
    """A member's new and lost rights; for a single right, the role's name for the end; the beginning, for a
    headline."""

    words: str
    role: str
    clause: str


def rights(gets: Sequence[Grant], loses: Sequence[Grant], most: int = 2) -> Rights:
    """Return the rights without those that another right of the other list covers, and at most `most` of a kind."""
    news = [one for one in gets if not any(covers(other, one) for other in loses)]
    olds = [one for one in loses if not any(covers(other, one) for other in (*gets, *loses) if other is not one)]
    fewer = [one for one in gets if one not in news]
    parts = [
        _list("may ", [(*allowed(one), *_freed(one, loses)) for one in news if allowed(one)], most),
        _list("may only ", [allowed(one) for one in fewer if allowed(one)], most),
        _list("can no longer ", [denied(one) for one in olds if allowed(one) and not _shrinks(one, fewer)], most),
        _list("gets ", [(one.words, *_freed(one, loses)) for one in news if not allowed(one)], most),
        _list("gets only ", [(one.words,) for one in fewer if not allowed(one)], most),
        _list("loses ", [(one.words,) for one in olds if not allowed(one) and not _shrinks(one, fewer)], most),
    ]
    one = [*gets, *loses]
    name = f" (`{one[0].role}`)" if len(one) == 1 and allowed(one[0]) else ""
    told = [part for part in parts if part]
    return Rights(", and ".join(words for words, _ in told), name, told[0][1] if told else "")


def _freed(gained: Grant, loses: Sequence[Grant]) -> tuple[str, ...]:
    before = next((one for one in loses if one.condition and (one.role, one.on) == (gained.role, gained.on)), None)
    return (f"without condition `{short(before.condition, _LONGEST)}` now",) if before and not gained.condition else ()


def _shrinks(lost: Grant, fewer: Sequence[Grant]) -> bool:
    return any(covers(lost, one) for one in fewer)


def _list(begin: str, phrases: Sequence[tuple[str, ...]], most: int) -> tuple[str, ...]:
    """Return the phrases, and the beginning of the first; nothing for none."""
    words, more = ", and ".join(map(", ".join, phrases[:most])), len(phrases) - most
    return (f"{begin}{words}{f', and {more} more' if more > 0 else ''}", begin + phrases[0][0]) if phrases else ()


def above(grant: Grant) -> bool:
    """Tell whether Slipway never needs to grant it: to act as any account of a project, or to read any of its secrets,
    is more than one. The name of a custom role tells nothing."""
    own = "/roles/" in grant.role
    return own or bool(_ABOVE.fullmatch(grant.role)) or (grant.role in _OF_ONE and not grant.place)
