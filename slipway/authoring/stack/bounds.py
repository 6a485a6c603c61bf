"""Bounds of a stack file's single values: the check's messages, and the JSON Schema for editors."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from slipway.authoring.stack.members import FORMS, MAIL, PATTERN, invalid_member
from slipway.authoring.stack.secrets import shown
from slipway.base.formatting import join, meant, quoted, short
from slipway.model.cluster import PROJECT
from slipway.model.findings.grades import BY_WORD, REVIEWED, SUMS, wrong
from slipway.model.fingerprint import LONGEST_NAME
from slipway.model.machines.spec import KEY
from slipway.model.machines.table import regions
from slipway.model.rules.job import NETWORK as NETWORK_FORM
from slipway.model.rules.reservations import PATH, SHARING
from slipway.model.rules.workers import LARGEST_DISK, SMALLEST_DISK
from slipway.model.season import MOMENT as MOMENT_FORM
from slipway.model.season import moment
from slipway.model.secret import SECRET

DISK_TYPES = ("pd-ssd", "pd-standard", "hyperdisk-balanced")
LARGEST_POOL = 1000  # Of a Ray cluster, which is such a cluster too: its page has the one bound that is documented.
LONGEST_DISPLAY_NAME = 128
NAME = "[a-z]([a-z0-9-]*[a-z0-9])?"
ACCOUNT = "[a-z][a-z0-9-]{4,28}[a-z0-9]"
BUCKET = "[a-z0-9][a-z0-9_.-]{1,61}[a-z0-9]"
_ACCOUNT_ID = "6–30 lowercase letters, digits and dashes"
_DATE = "2027-01-10, which is midnight UTC, or 2027-01-10T08:00:00+01:00"
VIOLATION = "bound"
"""The type of the errors that pydantic collects; `what` and `fix` are in its context."""


@dataclass(frozen=True, eq=False)
class Bound:
    """A bound of a value."""

    #: Returns the mistake in a value and its correction; None for a valid one.
    wrong: Callable[[Any], tuple[str, str] | None]
    schema: Mapping[str, Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), **self.schema}

    def _checked(self, value: Any) -> Any:
        if mistake := self.wrong(value):
            raise PydanticCustomError(VIOLATION, "{what}", {"what": mistake[0], "fix": mistake[1]})
        return value


def _number(least: int, most: int | None, what: str, fix: str) -> Bound:
    """Return the bound of a number; `what` has a place for it."""
    schema = {"minimum": least}
    if most is not None:
        schema["maximum"] = most

    def wrong(number: float) -> tuple[str, str] | None:
        if least <= number and (most is None or number <= most):
            return None
        return what.format(f"{number:,}".removesuffix(".0")), fix

    return Bound(wrong, schema)


def _text(pattern: str, what: str, fix: str, longest: int | None = None) -> Bound:
    """Return the bound of a text; `what` has a place for it: `{}` in quotes, `{shown}` as messages repeat it."""
    form = re.compile(pattern)

    def wrong(text: str) -> tuple[str, str] | None:
        if form.fullmatch(text) and (longest is None or len(text) <= longest):
            return None
        return what.format(quoted(text), shown=shown(text)), fix

    schema: dict[str, Any] = {**_form(pattern, fix)}
    if longest is not None:
        schema["maxLength"] = longest
    return Bound(wrong, schema)


def _form(pattern: str, words: str) -> Mapping[str, str]:
    """Return the schema of a text's form. Editors show `words` as its error message."""
    return {"pattern": f"^{pattern}$", "patternErrorMessage": words}


def _name(of: str, longest: int, more: str) -> Bound:
    fix = f"1–{longest} lowercase letters, digits and dashes, a letter first{more}"
    return _text(NAME, f"{{}} can't be a {of}'s name", fix, longest)


def _choice(names: tuple[str, ...], what: str, fix: str) -> Bound:
    """Return the bound of a choice; `what` has a place for the text: `{}` in quotes, `{named}` hidden where it may be
    secret. `fix` is for a text that is like none of the names."""

    def wrong(text: str) -> tuple[str, str] | None:
        if text in names:
            return None
        return what.format(quoted(text), named=shown(text, text="")), meant(text, names, fix)

    return Bound(wrong, {"enum": list(names)})


def _label(value: Any) -> tuple[str, str] | None:
    if value is False or value == "false":
        return None
    what = f"is {shown(value)}: that label can't change on a living cluster, which would be replaced"
    return what, 'gcp:addPulumiAttributionLabel: "false"'


def _display_name(value: str) -> tuple[str, str] | None:
    fits = 1 <= len(value) <= LONGEST_DISPLAY_NAME
    return None if fits else (f"has {len(value)} characters", f"1–{LONGEST_DISPLAY_NAME}")


def _moment(value: str) -> tuple[str, str] | None:
    try:
        moment(value)
    except ValueError:
        what = f"is neither a date nor a date and a time with its zone: {shown(value)}"
        return what, _DATE
    return None


def _account_id(key: str) -> Bound:
    def wrong(value: str) -> tuple[str, str] | None:
        if re.fullmatch(ACCOUNT, value):
            return None
        start, what = value.removeprefix("serviceAccount:").partition("@")[0], "can't be a service account's id"
        fix = f"{_ACCOUNT_ID}; with a long stack name set `{key}`"
        if "@" in value and re.fullmatch(ACCOUNT, start):
            fix = f"only the part before the @: `{key}: {start}`, which is made in the stack's project"
        return f"{quoted(value)} {what}", fix

    return Bound(wrong, _form(ACCOUNT, _ACCOUNT_ID))


KIND = _choice(tuple(REVIEWED), "no review tells of {named}", "one of the kinds in docs/findings.md")
GRADE = _choice(tuple(BY_WORD), "{named} is no grade", "blocking, warning or change")
GRADES = Bound(wrong, {})
SUM = _choice(SUMS, "nothing is asked about {named}", f"{' or '.join(SUMS)}")
DISK_TYPE = _choice(DISK_TYPES, "unknown disk type {named}", f"one of {', '.join(DISK_TYPES)}")
DISK_SIZE = _number(SMALLEST_DISK, LARGEST_DISK, "a disk can't have {} GB", f"{SMALLEST_DISK} to {LARGEST_DISK:,}")
AT_LEAST_ONE = _number(1, None, "a pool can't have {} machines", "1 or more; to have none, remove the pool")
POOL_MAX = _number(1, LARGEST_POOL, "a pool can't have {} machines", f"1 to {LARGEST_POOL:,}")
POOL_MIN = _number(1, None, "a pool can't shrink to {} machines", "1 or more: the API keeps at least one")
SHARE = _number(1, None, "a share can't be {} machines", "1 or more; a team without a share is left out")
RESERVED = _number(1, None, "a reservation can't hold {} machines", "1 or more, or leave it out")
COST = _number(0, None, "can't be {}", "0 or more")
HOURS = _number(1, 168, "a job can't run {} hours", "1 to 168 hours; the service ends every job after a week")
GENERATION = _number(1, None, "is {}", "1 or more")
CLUSTER_NAME = _name("cluster", LONGEST_NAME, ": its id adds a hash and has 63")
CLUSTER_ID = _text(
    "[a-z]([a-z0-9-]{0,126}[a-z0-9])?",
    "{} can't be a cluster's id",
    "the last part of its full name, as gcloud ai persistent-resources list shows it",
)
POOL_NAME = _name("pool", 63, "")
TEMPLATE_NAME = _name("template", 50, ": dask-digits")
TEAM_NAME = _name("team", 63, ": vision")  # a label's value
TRAINER_NAME = _name("trainer", 30, ": evals")
RESERVATION_NAME = _text(NAME, "{} can't be a reservation's name", "lowercase letters, digits and dashes: h100")
DISPLAY_NAME = Bound(_display_name, {"minLength": 1, "maxLength": LONGEST_DISPLAY_NAME})
REGION = _choice(regions(), "{} is not a region with custom training", "for example us-central1 or europe-west4")
PROJECT_ID = _text(PROJECT, "is not a project id: {shown}", "6–30 lowercase letters, digits, dashes: acme-ml-prod")
NETWORK = _text(
    NETWORK_FORM.pattern,
    "is not a network: {shown}",
    "projects/NUMBER/global/networks/NAME, with the project's number, not its id",
)
RETIRE_WITHIN = _text(
    "[1-9][0-9]{0,3}[hdw]", "is not a valid time: {shown}", "up to 9999 hours, days or weeks: 12h, 7d, 2w"
)
IDLE_LIMIT = _text(
    "[1-9][0-9]{0,3}[mhdw]", "is not a valid time: {shown}", "up to 9999 minutes, hours, days or weeks: 90m, 4h, 3d"
)
CREATE_WITHIN = _text("[1-9][0-9]{0,3}[mhd]", "is not a valid time: {shown}", "minutes, hours or days: 30m, 2h, 1d")
MOMENT = Bound(_moment, _form(MOMENT_FORM, _DATE))
DNS_SUFFIX = Bound(
    lambda domain: None if domain.endswith(".") else (f"{quoted(domain)} does not end with a dot", f"{short(domain)}."),
    {"pattern": "\\.$", "patternErrorMessage": "it ends with a dot"},
)
TARGET = _text(r"\S+", "{} names nothing", "a name without spaces")
BUCKET_NAME = _text(BUCKET, "{} can't be a bucket's name", "3–63 lowercase letters, digits, dashes")
SECRET_NAME = _text(
    SECRET.pattern,
    "is not the name of a secret (not shown: it may be its value)",
    "slack-ml, or projects/PROJECT/secrets/NAME/versions/N, which has the address",
)
RESERVATION_PATH = _text(
    PATH.pattern.replace("?P<zone>", ""),
    "is not a reservation's full path: {shown}",
    f"projects/PROJECT/zones/ZONE/reservations/NAME; {SHARING}",
)
ATTRIBUTION_LABEL = Bound(_label, {"enum": ["false", False]})
EMAIL = _text(MAIL, "is not an e-mail address: {shown}", "an e-mail address: ml-platform@acme.example")
MEMBER = Bound(invalid_member, {"pattern": PATTERN, "patternErrorMessage": f"{join(FORMS, 'or')} and whom it names"})
MACHINE_KEY = _text(
    KEY.pattern,
    "{} can't be a machine's key",
    "lowercase letters, digits and _, a letter first; machine types have a hyphen, keys have none",
    longest=63,
)
TRAINER, TRAINERS_ACCOUNT = _account_id("trainer"), _account_id("account")
