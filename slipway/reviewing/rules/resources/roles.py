"""Roles by what they allow, as `roles.json` has it of those that a workspace grants: they are told to people who know
no role by its name. Any other is told by its id. Pure.

By https://docs.cloud.google.com/iam/docs/roles-permissions, shortened to the parts that a reviewer has to weigh.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from slipway.base.formatting import short
from slipway.deploying.engine.grants import Grant
from slipway.reviewing.rules.table import say

_ROWS: Mapping[str, Mapping[str, str]] = {
    row["role"]: row for row in json.loads(Path(__file__).with_name("roles.json").read_text("utf-8"))
}
"""By a role, less `roles/`: what it is of, in a grant's own word, empty for a project, and what it allows. `{}` is
replaced by that one resource, or every such of the project. The row of no role is any other's."""
_GROWING = (
    ("storage.objectCreator", "storage.objectUser", "storage.objectAdmin", "storage.admin"),
    ("storage.objectViewer", "storage.objectUser", "storage.objectAdmin", "storage.admin"),
    ("storage.legacyBucketReader", "storage.objectViewer"),
    ("aiplatform.viewer", "aiplatform.user", "aiplatform.admin"),
    ("viewer", "editor", "owner"),
)
"""Rows of roles, each of which allows all that those before it do."""
# Roles to act as somebody else, or to give away rights beyond one's own; and all with an administrator's name.
_ABOVE = re.compile(
    r"roles/(owner|editor|iam\.(serviceAccount(OpenId)?TokenCreator|workloadIdentityUser)|(?i:.*admin.*))"
)
_CAN, CAN_NOT = {"every": "every", "and": "and"}, {"every": "any", "and": "or"}
_OF_ONE = frozenset({"roles/iam.serviceAccountUser", "roles/secretmanager.secretAccessor"})


def allowed(grant: Grant, words: Mapping[str, str] = _CAN) -> str:
    """Return `read every object of bucket `results``; by CAN_NOT, `read any object of bucket `results``."""
    row = _ROWS.get(grant.role.removeprefix("roles/"), _ROWS[""])
    of_all = row["of"] and grant.what in ("", "folder", "organisation")
    on = f"{words['every']} {row['of']} of {grant.on}" if of_all else grant.on
    phrase = row["allows"].format(on, role=grant.role, **words)
    return f"{phrase}, under condition `{short(grant.condition)}`" if grant.condition else phrase


def covers(larger: Grant, smaller: Grant) -> bool:
    """Tell whether one allows all that the other does, on the same resource."""
    if larger.on != smaller.on or larger.condition:
        return False
    small, large = (grant.role.removeprefix("roles/") for grant in (smaller, larger))
    return small == large or any(small in row and large in row[row.index(small) :] for row in _GROWING)


def rights(gets: Sequence[Grant], loses: Sequence[Grant]) -> Iterator[str]:
    """Yield phrases for new, for narrowed and for lost rights, in this order, less those that another right covers."""
    fewer = [grant for grant in gets if any(covers(lost, grant) for lost in loses)]
    for grant in gets:
        if grant not in fewer:
            before = next((lost for lost in loses if (lost.role, lost.on) == (grant.role, grant.on)), None)
            yield say("right-gained", right=allowed(grant), condition=before and short(before.condition))
    yield from (say("right-narrowed", right=allowed(grant)) for grant in fewer)
    for lost in loses:
        rest = (*gets, *(grant for grant in loses if grant is not lost))
        if not any(covers(other, lost) for other in rest) and not any(covers(lost, grant) for grant in fewer):
            yield say("right-lost", right=allowed(lost, CAN_NOT))


def above(grant: Grant) -> bool:
    """Tell whether Slipway never needs to grant it: to act as any account of a project, or to read any of its secrets,
    is more than one. The name of a custom role tells nothing."""
    own = "/roles/" in grant.role
    return own or bool(_ABOVE.fullmatch(grant.role)) or (grant.role in _OF_ONE and not grant.place)
