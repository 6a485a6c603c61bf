"""What could not be read, which is a finding of its own, and the roles that whoever asks does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.doctor.picture import Picture
from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS
from slipway.live import Unknown

_OFF = re.compile(r"has not been used in project|is disabled", re.IGNORECASE)
_ROLE = re.compile(r"roles/\S+")


def unread(picture: Picture) -> Iterator[Finding]:
    """One for each part: API, identity, reason and role."""
    backend = picture.backend
    vital = {
        "clusters": picture.clusters,
        "unfinished jobs": picture.jobs,
        "the catalog": picture.published,
        "the state": backend.state if backend and not backend.damage else None,
    }
    others = {
        "the jobs of the last 30 days, so idle pools": picture.recent,
        "quota": picture.quota,
        "the locks of the state": backend.locks if backend else (),
        "what jobs use of their machines": picture.use,
        "packages": picture.packages,
        "whether you have the roles that commands need": picture.gaps,
    }
    switched_off: set[str] = set()
    for what, part in (*vital.items(), *others.items()):
        if not isinstance(part, Unknown):
            continue
        service = part.api.partition(" ")[0]
        if _OFF.search(part.why):
            if service not in switched_off:
                yield _off(service, picture)
            switched_off.add(service)
        else:
            yield _unread(what, part, "unread" if what in vital else "unread-part", picture)


def _off(service: str, picture: Picture) -> Finding:
    words = f"the API {service} is switched off in {picture.project}"
    return KINDS["api-off"].of(
        Subject("api", service),
        words,
        f"gcloud services enable {service} --project={picture.project}",
        "takes a minute",
    )


def _unread(what: str, part: Unknown, kind: str, picture: Picture) -> Finding:
    who = f" as {part.identity}" if part.identity else ""
    asked = f"{part.api}{who}: " if part.api else ""
    role = _ROLE.search(part.role)
    if role:
        mend, means = f"ask for {role[0]} on {_on(part, picture)}", ""
    else:
        mend, means = picture.doctor, f"again; it needs {part.role}" if part.role else "again"
    return KINDS[kind].of(Subject(what), f"{what} can't be read: {asked}{part.why}", mend, means)


def _on(part: Unknown, picture: Picture) -> str:
    """A bucket has roles of its own; where the API's words name one, it is meant."""
    _, found, rest = part.api.partition("gs://")
    return f"gs://{rest.partition('/')[0]}" if found else f"project {picture.project}"


def roles(picture: Picture) -> Iterator[Finding]:
    if isinstance(picture.gaps, Unknown):
        return
    for gap in picture.gaps:
        words = f"you don't have {gap.role} on {gap.on}, which {gap.verbs} needs"
        yield KINDS["role-missing"].of(Subject("role", gap.role, gap.on), words, f"ask for {gap.role} on {gap.on}")
