"""Typed errors between us and an API, which name the missing role.

::

    CloudError                 any answer that is not what was asked for, or none
    ├── Unauthenticated        401, or no fresh token                          exit 3
    ├── Denied                 403: names permission and role, or the reason   exit 3
    ├── NotFound               404                                             exit 4
    ├── Conflict               409, 412                                        exit 4
    ├── Refused                other 4xx: the service rejects the request      exit 4
    ├── Exhausted              429: quota or rate                              exit 5
    ├── Unserved               501: it does not do this, for anybody           exit 4
    ├── Unavailable            other 5xx                                       exit 4
    ├── Unreachable            never sent: nothing answers at the endpoint     exit 1
    ├── NoAnswer               sent, and the answer was lost                   exit 1
    └── Garbled                answered with something that no API says        exit 1

A refusal's fix follows the reason that Google gives (`slipway.google.reasons`). The status decides where none is known.
`not_accepted` tells whether the service certainly did not do what was asked, which alone permits sending a request
without an idempotency key again.
"""

# ruff: noqa: N818 - errors named as the outcome they report

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from slipway.base.errors import SlipwayError
from slipway.google.reasons import Reason, reason_of, sentences, with_details
from slipway.model.kinds import KINDS

ROLES: Mapping[str, str] = {
    "aiplatform.contexts.": "roles/aiplatform.user",
    "aiplatform.metadataStores.": "roles/aiplatform.user",
    "aiplatform.tensorboardRuns.": "roles/aiplatform.viewer",
    "aiplatform.tensorboards.": "roles/aiplatform.user",
    "aiplatform.persistentResources.create": "roles/aiplatform.admin",
    "aiplatform.persistentResources.delete": "roles/aiplatform.admin",
    "aiplatform.persistentResources.update": "roles/aiplatform.admin",
    "aiplatform.persistentResources.": "roles/aiplatform.viewer",
    **{f"aiplatform.{kind.collection}.": "roles/aiplatform.user" for kind in KINDS.values()},
    "iam.serviceAccounts.actAs": "roles/iam.serviceAccountUser",
    "storage.objects.create": "roles/storage.objectCreator",
    "storage.objects.delete": "roles/storage.objectUser",
    "storage.objects.": "roles/storage.objectViewer",
    "storage.buckets.": "roles/storage.bucketViewer",
    "logging.": "roles/logging.viewer",
    "cloudquotas.quotas.update": "roles/cloudquotas.admin",
    "cloudquotas.": "roles/cloudquotas.viewer",
    "compute.advice.": "roles/compute.viewer",
    "monitoring.": "roles/monitoring.viewer",
}
"""The least predefined role with a permission, by the longest matching prefix."""

_PERMISSION = re.compile(
    r"(?<![\w@.-])((?:aiplatform|artifactregistry|cloudkms(?=\.cryptoKeys\.)|cloudquotas|compute|iam|logging|monitoring|orgpolicy|resourcemanager|"
    r"secretmanager|serviceusage|storage)\.(?!googleapis\b)[a-zA-Z]+\.[a-zA-Z]+)\b"
)
_OF_DETAILS = re.compile(r'"permission": ?"([\w.]+)"')
_ACT_AS = re.compile(r"act as (?:the )?service.?account:?\s*'?([^\s']+@[^\s'.]+(?:\.[^\s'.]+)+)", re.IGNORECASE)
_RESOURCE = re.compile(r"on resource '([^']+)'")
QUOTA_TOO_SMALL = "exceed quota limits"
"""The words of a 429 whose limit is below the need of one job, so that no waiting helps."""

OF_ROLES = r"(?i:permission|access|denied|not authorized)"
"""Services' words where a role is missing, as a pattern. Other reasons for a 403 no role mends."""
_OTHER_REASON = re.compile(r'"reason": ?"(?!\w*PERMISSION_DENIED")[A-Z]\w+"')
"""A reason in an answer's details that no role mends, whatever its words."""
_WITH_REASON = (400, 403, 409, 412, 429)
UNKNOWN_REASON = "no more is known than Google says there: show that to whoever manages the project or its organisation"


def role_for(permission: str) -> str:
    """Return the role for a permission; empty for an unknown one."""
    matches = [prefix for prefix in ROLES if permission.startswith(prefix)]
    return ROLES[max(matches, key=len)] if matches else ""


@dataclass(frozen=True)
class Call:
    """A call to an API, in the words of an error."""

    #: Continues "could not …".
    doing: str
    permission: str = ""
    #: The resource that the permission is granted on.
    on: str = ""

    @property
    def project(self) -> str:
        """The project, where the permission is granted on one; else empty."""
        what, _, name = self.on.partition(" ")
        return name if what == "project" else ""


@dataclass(frozen=True)
class Answer:
    """A service's refusal."""

    status: int
    reason: str
    message: str
    details: tuple[Mapping[str, Any], ...] = ()
    #: Seconds; None where the service names none.
    retry_after: float | None = None

    @property
    def not_accepted(self) -> bool:
        """True where the request was certainly not carried out.

        A 4xx is a refusal. A 5xx may come from a proxy in front of a service that did the work, so it counts only when
        the service itself says that it does not offer this, or when to come back.
        """
        if 400 <= self.status < 500:
            return self.status != 408
        if self.status == 501 and self.reason == "UNIMPLEMENTED":
            return True
        asks_again = self.retry_after is not None or any(
            "RetryInfo" in str(detail.get("@type", "")) for detail in self.details
        )
        return self.status == 503 and asks_again


class CloudError(SlipwayError):
    """An API call that failed.

    `role` is the missing role where the service denied access, and empty elsewhere. `fix` is the kind's default unless
    given.
    """

    exit_code = 4
    usual: ClassVar[str] = "try again"
    """The fix for most answers of this kind."""

    def __init__(
        self,
        call: Call,
        why: str = "",
        fix: str = "",
        *,
        answer: Answer | None = None,
        role: str = "",
        reason: Reason | None = None,
    ) -> None:
        super().__init__(f"could not {call.doing}", why=why, fix=fix or self.usual)
        self.call, self.answer, self.role, self.reason = call, answer, role, reason

    @property
    def status(self) -> int:
        """The HTTP status, 0 when there was no answer."""
        return self.answer.status if self.answer else 0

    @property
    def message(self) -> str:
        return self.answer.message if self.answer else self.why

    @property
    def brief(self) -> str:
        """The reason, and the missing role."""
        return f"{self.message} ({self.fix})" if isinstance(self, Denied) else f"{self.what}: {self.message}"

    @property
    def switched_off(self) -> bool:
        """True where the project has not enabled this API at all."""
        return self.reason is not None and self.reason.off

    @property
    def lacks_role(self) -> bool:
        """True where a role would have helped, known or not."""
        return isinstance(self, Denied) and self.reason is None and self.fix != UNKNOWN_REASON

    @property
    def not_accepted(self) -> bool:
        return self.answer is not None and self.answer.not_accepted

    @property
    def worth_again(self) -> bool:
        """Tell whether a request was refused for a reason that passes: a rate limit, a busy service, no connection."""
        return self.status == 503 and self.not_accepted


class Unauthenticated(CloudError):
    exit_code = 3
    usual = (
        "log in again: gcloud auth application-default login, or export a fresh GOOGLE_OAUTH_ACCESS_TOKEN (an access "
        "token lives for an hour)"
    )


class Denied(CloudError):
    exit_code = 3
    usual = "ask whoever manages the project for the role that this takes: docs/security.md has them"


class NotFound(CloudError):
    usual = (
        "it was deleted, or never made: slipway pools and slipway jobs list show what there is; a deployment makes "
        "again what a stack declares"
    )


class Conflict(CloudError):
    usual = "try again: somebody was faster, and it goes on from what is there now"


class Refused(CloudError):
    usual = "correct what the reason names, and try again"


class Exhausted(CloudError):
    exit_code = 5
    usual = "wait and try again, or ask for more quota: slipway quota"

    @property
    def worth_again(self) -> bool:
        return QUOTA_TOO_SMALL not in self.message


class Unserved(CloudError):
    """A valid request to a service that does not offer this. The local cloud answers so at its own limits."""

    usual = "trying again does not help: take a stack whose cloud has this (slipway use)"


class Unavailable(CloudError):
    usual = "try again; https://status.cloud.google.com shows known outages"


class Unreachable(CloudError):
    exit_code = 1

    def __init__(self, call: Call, why: str = "") -> None:
        network = "look at your network and the GOOGLE_…_CUSTOM_ENDPOINT variables"
        super().__init__(call, why, f"{network} (the local cloud is started by: vertex-local up)")

    @property
    def not_accepted(self) -> bool:
        return True

    @property
    def worth_again(self) -> bool:
        return True


class NoAnswer(CloudError):
    """A lost answer. Where it leaves open whether a job was made, the submission says so, with its own exit code."""

    exit_code = 1


class Garbled(CloudError):
    """An answer that no API gives. The request may have been carried out all the same."""

    exit_code = 1
    usual = (
        "is that endpoint the API, with no proxy that answers in its place? Look at the GOOGLE_…_CUSTOM_ENDPOINT "
        "variables"
    )


_BY_STATUS: Mapping[int, type[CloudError]] = {
    401: Unauthenticated,
    403: Denied,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    429: Exhausted,
    501: Unserved,
}


def failure(call: Call, answer: Answer) -> CloudError:
    kind = _BY_STATUS.get(answer.status, Refused if 400 <= answer.status < 500 else Unavailable)
    said = with_details(answer.message, answer.details)
    why = sentences(answer.message or answer.reason or f"HTTP {answer.status}", said)
    if answer.status in _WITH_REASON and (reason := reason_of(said, call.permission, project=call.project)):
        if kind is Conflict and not reason.raced:
            kind = Refused  # A policy forbids it.
        return kind(call, f"{reason.what}: {why}", reason.way_out(), answer=answer, reason=reason)
    if answer.status == 507:
        return kind(call, why, "make room on its disk, as the reason says, then the same command again", answer=answer)
    if kind is Exhausted and QUOTA_TOO_SMALL in answer.message:
        return kind(call, why, "ask for more quota, as no waiting helps: slipway quota", answer=answer)
    # Of jobs Vertex AI says with status 400 that the caller may not act as their account.
    denied = kind is Denied or (answer.status == 400 and _ACT_AS.search(answer.message))
    return _denied(call, answer, why, said) if denied else kind(call, why, answer=answer)


def _denied(call: Call, answer: Answer, why: str, said: str) -> Denied:
    # The service's words know best which permission is missing, and on what; the call's own stand in for them.
    if acting := _ACT_AS.search(answer.message):
        permission, on = "iam.serviceAccounts.actAs", acting[1]
    # Of a policy that denies, a permission has its service's whole name: iam.googleapis.com/roles.create.
    elif named := _PERMISSION.search(answer.message.replace(".googleapis.com/", ".")) or _OF_DETAILS.search(said):
        resource = _RESOURCE.search(answer.message)
        permission, on = named[1], call.on or (resource[1] if resource else "")
    elif re.search(OF_ROLES, said) and not _OTHER_REASON.search(said):
        permission, on = call.permission, call.on
    else:
        return Denied(call, why, UNKNOWN_REASON, answer=answer)
    role = role_for(permission)
    if role:
        fix = f"ask for {role}{f' on {on}' if on else ''}"
    else:
        fix = f"ask for a role with {permission}" if permission else ""
    return Denied(call, why, fix, answer=answer, role=role)


def needs_role(problem: CloudError) -> str:
    """Return ` (needs roles/…)`, or the way out of another known reason; nothing where neither is known."""
    if problem.reason:
        return f" ({problem.fix})"
    return f" (needs {problem.role})" if isinstance(problem, Denied) and problem.role else ""
