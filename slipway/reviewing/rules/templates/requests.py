"""Requests of a template's offers before and after: each difference once, with its effect; none is left out.

Values that each deployment sets anew mean nothing: the commit, a cluster's id, a package's hash (`code.py` reports
that). Common buckets and the common trainer are reported once elsewhere, and so is a template that changes its trainer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from slipway.authoring.stack.secrets import looks_secret
from slipway.base.formatting import join, last_part
from slipway.model.catalog.model import Catalog, Offer, Template
from slipway.model.catalog.placeholders import fill, placeholder
from slipway.model.catalog.placeholders import names as names_in
from slipway.model.facts import offers_by_label
from slipway.model.findings.finding import Finding, Grade
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.secret_values import shown
from slipway.reviewing.change.usual import by
from slipway.reviewing.rules.templates.effects import TRAINER, Differing, Leaf, flag
from slipway.reviewing.rules.templates.leaves import flat, trainer
from slipway.reviewing.rules.templates.parameters import renames
from slipway.reviewing.rules.templates.rules import OTHER, RULES, Rule
from slipway.reviewing.rules.templates.usage import Usage, finding, whose

SILENT = re.compile(r"spec/persistentResourceId|labels/slipway-commit(-dirty)?")
"""Paths that each deployment sets anew."""
_ARGUMENTS = ("args", "command")
_WAIT = "spec/scheduling/maxWaitDuration"
_PATH = re.compile(r"pools/(?P<role>[^/]+)/(?P<rest>.+)")


@dataclass(frozen=True)
class RequestDifference:
    """A value that differs, and the `rule` with its effect. `name` is the path's own and `of` its owner's; `role` is
    the worker pool's, empty for the whole job. None: there is no such value."""

    rule: Rule
    name: str
    of: str
    role: str
    before: Leaf | None
    after: Leaf | None

    @property
    def what(self) -> str:
        """The difference's part of a finding's key."""
        return f"{self.rule.what} `{self.name}`" if self.name else self.rule.what

    @property
    def shown(self) -> tuple[str, str]:
        """Both sides as a comment may have them, in full where they are texts."""
        if isinstance(self.before, tuple) or isinstance(self.after, tuple):
            return _arguments(*(one if isinstance(one, tuple) else () for one in (self.before, self.after)))
        sides = ((self.before, self.after or ""), (self.after, self.before or ""))
        was, becomes = ("none" if one is None else shown(one, self.name, beside=str(other)) for one, other in sides)
        return was, becomes


def difference(path: str, before: Leaf | None, after: Leaf | None) -> RequestDifference:
    for rule in (*RULES, *OTHER):
        if found := rule.path.fullmatch(path):
            told = found.groupdict()
            return RequestDifference(
                rule, told.get("name") or "", told.get("of") or "", told.get("role") or "", before, after
            )
    raise AssertionError("the last row takes every path")


def requests(
    change: Change, was: Catalog, becomes: Catalog, old: Template, new: Template, used: Usage
) -> Iterator[Finding]:
    """Find differences of the posted requests: the same difference of several offers and worker pools once."""
    before, after = offers_by_label(old, new.kind), offers_by_label(new)
    both = {label: (before[label], one) for label, one in after.items() if label in before}
    parameters = Parameters.of(old, new)
    found: dict[tuple[str, str, str, Leaf | None, Leaf | None], tuple[RequestDifference, dict[str, list[str]]]] = {}
    for label, sides in both.items():
        for one in (*differences(*sides, was, becomes, parameters), *_pools(*sides)):
            _, at = found.setdefault((one.rule.kind, one.what, one.of, one.before, one.after), (one, {}))
            at.setdefault(label, []).append(one.role)
    for one, at in found.values():
        offers = tuple(after[label] for label in at)
        told = Differing(one.name, one.of, one.before, one.after, offers, old, new, was, becomes, used, change.now)
        a, b = (
            side.replace(f"`{TRAINER}`", f"`{catalog.trainer}`")
            for side, catalog in zip(one.shown, (was, becomes), strict=True)
        )
        said = one.rule.of(told, a, b)
        roles = [role for role in dict.fromkeys(role for some in at.values() for role in some) if role]
        part_of = (
            f" of {join(f'`{role}`' for role in roles)}" if roles and len({*old.roles, *new.roles}) > len(roles) else ""
        )
        place = f" in {join(f'`{label}`' for label in at)}" if len(at) < len(both) else ""
        details = [f"{one.what}{part_of}{place}: {a} → {b}"] if part_of or place or not _says(said.words, a, b) else []
        grade = Grade.NOTE if _of_clusters(one.rule.kind, offers, was, becomes) else said.grade
        part = f"{one.what}{part_of}{place}".replace("`", "")
        case = whose(offers, new)
        ways, every = (
            dict.fromkeys(map(by, some))
            for some in (offers, (pair[1] for pair in both.values() if whose(pair[1:], new) == case or not case))
        )
        only = f" {join(ways)}" if len(ways) < len(every) and len(ways) <= 2 else ""
        words = f"Jobs of `{new.name}`{case}{only} {said.words}"
        yield finding(one.rule.kind, new, words, part, said.more, details=details, grade=grade)


def _says(words: str, *sides: str) -> bool:
    return all(side.strip("`") in words for side in sides if side != "none")


def _of_clusters(kind: str, offers: tuple[Offer, ...], was: Catalog, becomes: Catalog) -> bool:
    """Tell whether it is the clusters' own key, whose edit is reported."""
    keys = (
        [one and one.kms_key for one in map(each.clusters.get, (offer.cluster for offer in offers))]
        for each in (was, becomes)
    )
    return kind == "encryption-changed" and all(a != b for a, b in zip(*keys, strict=True))


def _pools(old: Offer, new: Offer) -> Iterator[RequestDifference]:
    if old.pools != new.pools and old.cluster == new.cluster:
        before, after = (tuple(pool for pool in one.pools if pool) for one in (old, new))
        if before != after:
            yield difference("pools", before, after)


@dataclass(frozen=True)
class Parameters:
    """Placeholders of parameters in the requests of two versions of a template. `renamed`: new by old. `gone` and
    `added` with their default values."""

    renamed: Mapping[str, str]
    gone: Mapping[str, object]
    added: Mapping[str, object]

    @classmethod
    def of(cls, old: Template, new: Template) -> Parameters:
        renamed = renames(old, new)
        before, after = ({one.name: one.default for one in each.parameters} for each in (old, new))
        return cls(
            {placeholder(one): placeholder(other) for one, other in renamed.items()},
            {name: one for name, one in before.items() if name not in after and name not in renamed},
            {name: one for name, one in after.items() if name not in before and name not in renamed.values()},
        )

    def settled(self, before: tuple[str, ...], after: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Leave out arguments that come or go with their parameter, which is reported; an argument that lost its
        parameter had the parameter's default."""
        return _settled(before, after, self.gone), _settled(after, before, self.added)


def _settled(some: tuple[str, ...], others: tuple[str, ...], values: Mapping[str, object]) -> tuple[str, ...]:
    flags = {flag(one) for one in others}
    left = (one for one in some if flag(one) in flags or not values.keys() & set(names_in(one)))
    known = {name: value for name, value in values.items() if value is not None}
    return tuple(str(fill(one, known)) for one in left)


def differences(
    old: Offer, new: Offer, was: Catalog, becomes: Catalog, known: Parameters
) -> Iterator[RequestDifference]:
    """Yield the differences; a renamed parameter alone is none."""
    names = known.renamed
    roles = _renamed_roles(old, new)
    before, after = flat(old, was, roles, names), flat(new, becomes)
    trainers = {TRAINER, *(trainer(name) for one in (was, becomes) for name in one.trainers)}
    for one, other in roles.items():
        yield difference("role", one, other)
    for path in dict.fromkeys((*before, *after)):
        a, b = before.get(path), after.get(path)
        if path.endswith(_ARGUMENTS) and isinstance(a, tuple) and isinstance(b, tuple):
            a, b = known.settled(a, b)
        waits = path == _WAIT and _is_wait(a, old) and _is_wait(b, new)
        repeated = (b is None and _repeats(path, before, after)) or (a is None and _repeats(path, after, before))
        moved = path == "spec/serviceAccount" and {a, b} <= trainers
        if a != b and not (SILENT.fullmatch(path) or waits or repeated or moved or _other_form(path, before, after)):
            yield difference(path, a, b)


def _other_form(path: str, before: Mapping[str, Leaf], after: Mapping[str, Leaf]) -> bool:
    """Tell whether it belongs to a package that replaces an image, or is replaced by one: the image is reported."""
    found = _PATH.fullmatch(path)
    if found is None or not found["rest"].startswith(("pythonPackageSpec/", "launcher")):
        return False
    image = f"pools/{found['role']}/containerSpec/imageUri"
    return (image in before) is not (image in after) and found["role"] in _roles(before) & _roles(after)


def _renamed_roles(old: Offer, new: Offer) -> Mapping[str, str]:
    """Return new names by old ones, by place, where their number is the same."""
    if len(old.roles) != len(new.roles):
        return {}
    pairs = zip(old.roles, new.roles, strict=True)
    return {one: other for one, other in pairs if one not in new.roles and other not in old.roles}


def _repeats(path: str, leaves: Mapping[str, Leaf], others: Mapping[str, Leaf]) -> bool:
    """Tell whether it belongs to a role that only `leaves` have, and another role there has the same value. Machines
    are always reported."""
    found = _PATH.fullmatch(path)
    if found is None or found["rest"] == "machines" or found["role"] in _roles(others):
        return False
    if found["rest"] == "place":
        return True
    beside = (f"pools/{role}/{found['rest']}" for role in _roles(leaves) if role != found["role"])
    return any(leaves.get(one) == leaves.get(path) for one in beside)


def _roles(leaves: Mapping[str, Leaf]) -> frozenset[str]:
    return frozenset(found["role"] for path in leaves if (found := _PATH.fullmatch(path)))


def _is_wait(leaf: Leaf | None, offer: Offer) -> bool:
    return leaf is None or (offer.wait is not None and leaf == f"{offer.wait:.0f}s")


def plain_secrets(offer: Offer, catalog: Catalog) -> Iterator[str]:
    """Yield places that seem to have a secret in plain text: `environment variable HF_TOKEN`."""
    for path, leaf in flat(offer, catalog).items():
        for value in leaf if isinstance(leaf, tuple) else (str(leaf),):
            name, _, given = value.partition("=") if path.endswith(_ARGUMENTS) else (last_part(path), "", value)
            if looks_secret(given or value, name.lstrip("-")):
                yield difference(path, None, value).what


def _arguments(before: tuple[str, ...], after: tuple[str, ...]) -> tuple[str, str]:
    gone, new = [one for one in before if one not in after], [one for one in after if one not in before]
    if not gone and not new:
        gone, new = list(before), list(after)
    return _listed(gone, new), _listed(new, gone)


def _listed(arguments: list[str], others: list[str]) -> str:
    words = []
    for one, other in zip_longest(arguments[:4], others[: len(arguments)][:4], fillvalue=""):
        name, equals, value = one.partition("=")
        hides = equals and looks_secret(value, name.lstrip("-"))
        words.append(f"`{name}=…` (hidden)" if hides else shown(one, beside=other))
    more = len(arguments) - 4
    return join([*words, *([f"{more} more"] if more > 0 else [])]) or "none"
