"""IAM members and addresses in stack files: their mistakes and corrections, and those that a reviewer should see."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from slipway.authoring.policy.rules import ROLES, crowd
from slipway.authoring.stack.secrets import shown
from slipway.authoring.stack.yaml_file import Document, DocumentPart, FileMistake
from slipway.base.formatting import quoted, short
from slipway.google.permissions import MOST_GROUPS, MOST_PRINCIPALS, groups_and_domains
from slipway.model.cluster import SERVICE_ACCOUNT

EXAMPLE = "group:ml-engineers@acme.example"
_LABEL = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"
DOMAIN = rf"({_LABEL}\.)+[a-z]([a-z0-9-]*[a-z0-9])"
_ATOM = r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+"
ADDRESS = rf"{_ATOM}(\.{_ATOM})*@{DOMAIN}"
_KUBERNETES = rf"[a-z]([a-z0-9.:-]*[a-z0-9])?\.svc\.id\.goog\[{_LABEL}/{_LABEL}\]"
_WORKLOADS = r"projects/[0-9]+/locations/global/workloadIdentityPools/[a-z0-9.-]+"
_WORKFORCE = r"locations/global/workforcePools/[a-z0-9-]+"
_POOL = rf"iam\.googleapis\.com/({_WORKLOADS}|{_WORKFORCE})"
_POOLS = "//iam.googleapis.com/projects/NUMBER/locations/global/workloadIdentityPools/POOL"
_SET = r"(group/[^\s/]+|attribute\.[a-z0-9_]+/\S+|namespace/\S+|kubernetes\.[a-z.]+/\S+|\*)"

FORMS: Mapping[str, tuple[str, str]] = {
    "user:": (ADDRESS, "a whole address: user:ada@acme.example"),
    "group:": (ADDRESS, f"a whole address: {EXAMPLE}"),
    "serviceAccount:": (
        f"({SERVICE_ACCOUNT}|{_KUBERNETES})",
        "its address: serviceAccount:sweeps@acme-ml.iam.gserviceaccount.com",
    ),
    "domain:": (DOMAIN, "a domain: domain:acme.example"),
    "principal:": (rf"//{_POOL}/subject/\S+", f"principal:{_POOLS}/subject/ID"),
    "principalSet:": (rf"//{_POOL}/{_SET}", f"principalSet:{_POOLS}/attribute.NAME/VALUE"),
}
"""By each prefix that a submitter may have, the form of the part after it, and what to write."""
PATTERN = f"^({'|'.join(f'{prefix}{form}' for prefix, (form, _) in FORMS.items())})$"
MAIL = "({})?".format(ADDRESS.replace("a-z", "A-Za-z"))
_EVERYBODY = ("allusers", "allauthenticatedusers")


def invalid_member(member: str) -> tuple[str, str] | None:
    """Return the mistake in a submitter and its correction; None for a permitted IAM member."""
    if member.lower() in _EVERYBODY:
        return f"{member} would let strangers run jobs", f"a group: {EXAMPLE}"
    if member.lower().startswith("deleted:"):
        return f"is a member that was deleted: {shown(member)}", "leave it out, or name its replacement"
    prefix, colon, rest = member.partition(":")
    given = prefix + colon
    right = next((form for form in FORMS if form.lower() == given.lower()), None)
    unknown = f"is not an IAM member: {shown(member)}"
    if right is None and re.fullmatch(ADDRESS, member):
        return unknown, f"did you mean `user:{short(member, 320)}`, or group:?"
    if right is None:
        return unknown, f"for example {EXAMPLE}"
    if given != right:
        return f"IAM is case-sensitive, and this begins with {quoted(given)}", f"{right}{rest}"
    if right in ("user:", "group:") and rest.endswith(".gserviceaccount.com"):
        return f"is a service account, not a {prefix}: {shown(member)}", f"serviceAccount:{rest}"
    form, fix = FORMS[right]
    if re.fullmatch(form, rest):
        return None
    if not right.startswith("principal") and re.fullmatch(form, rest.lower()):
        return f"IAM keeps addresses in lower case, this is {shown(member)}", f"{right}{rest.lower()}"
    return unknown, fix


def check_crowd(entries: Iterable[DocumentPart]) -> None:
    """Check that a project's policy can have all submitters; a group is one principal."""
    listed = [part for entry in entries for part in entry["submitters"].entries()]
    members = {part.of(str): part for part in listed}
    needed = len(members) * len(ROLES)
    if needed > MOST_PRINCIPALS:
        what = f"with this one, {len(members):,} submitters have {len(ROLES)} roles each: {needed:,} principals in the "
        listed[-1].wrong(f"{what}project's policy, which takes {MOST_PRINCIPALS:,}", f"take a group: {EXAMPLE}")
    elif (groups := groups_and_domains(filter(None, [*members] * len(ROLES)))) > MOST_GROUPS:
        what = f"with this one, the project's policy has {groups} groups and domains (a domain counts for each of "
        what += f"{len(ROLES)} roles), and takes {MOST_GROUPS}"
        listed[-1].wrong(what, f"take one group that has the others as its members: {EXAMPLE}")


_MAY = "may submit, spend money and read all results"


def check_warnings(document: Document) -> tuple[FileMistake, ...]:
    """Return warnings in the order of the lines. Mistaken values have none."""
    root = DocumentPart(document)
    config = root["config"]
    others = (part for key in ("slipway:trainers", "slipway:teams") for _, part in config[key].items())
    entries = [config["slipway:workspace"], *others]
    members = [member for entry in entries for member in entry["submitters"].entries()]
    for member in members:
        name = member.of(str) or ""
        who = "" if invalid_member(name) else crowd(name)
        if who:
            member.wrong(f"{who} {_MAY}", f"keep it if that is meant; else a group: {EXAMPLE}")
    return tuple(root.mistakes)


def open_to(submitters: tuple[str, ...]) -> tuple[str, ...]:
    """Return the warnings as preview and `up` word them."""
    return tuple(f"{who} {_MAY}: submitter {name}" for name in submitters if (who := crowd(name)))
