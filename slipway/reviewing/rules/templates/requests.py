"""Requests of a template's offers before and after: each difference once, with its effect; none is left out.

`requests.json` has a rule for every path that this version posts, and last for all others, of another version or of a
custom program (`slipway.reviewing.rules.declared`). Its phrases follow "Jobs of `lora`": `{old}` and `{new}` are the
values before and after, `{name}` and `{of}` are the path's names, and `{last}` is its last part. Functions are those of
`effects.py`; conditions are words of `difference.py:Difference.holds`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, cast

from slipway.authoring.stack.secrets import has_secret
from slipway.base.formatting import exact_span, join, last_part
from slipway.deploying.engine.lifecycle import Effect
from slipway.model.catalog.cases import renames
from slipway.model.catalog.placeholders import fill, names, placeholder, render
from slipway.model.catalog.template import Offer, Template
from slipway.model.facts import offers_by_label
from slipway.model.findings.finding import Subject
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.secret_values import HIDDEN, bare, shown
from slipway.reviewing.change.usual import Offers, account_of, as_kind, by, served, variables, whose
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.declared import Rule, compare, read_rules, rule_of
from slipway.reviewing.rules.resources.resources import told_by
from slipway.reviewing.rules.table import Row, RowName, follows
from slipway.reviewing.rules.templates import effects
from slipway.reviewing.rules.templates.difference import Difference
from slipway.reviewing.rules.templates.effects import argument
from slipway.reviewing.rules.templates.leaves import Leaf, address_of, flat, of_tasks
from slipway.reviewing.rules.templates.offers import kept, refused
from slipway.reviewing.rules.templates.usage import JOBS, TemplateChange
from slipway.reviewing.rules.words import other_blanks

SILENT = re.compile(
    r"spec/(persistentResourceId|experimentRun|scheduling/maxWaitDuration|pscInterfaceConfig/dnsPeeringConfigs/.*/domain)"
    r"|labels/slipway-commit(-dirty)?"
    r"|runtimeConfig/(gcsOutputDirectory|parameterValues(/.*)?|.*/persistentResourceName)"
)
"""Paths that each deployment sets anew, that follow from another one, or that `offers.py` tells of."""
_POOL = re.compile(r"pools/(?P<role>[^/]+)/(?P<rest>.+)")
_WHOLE = (
    re.compile(r"(spec/pscInterfaceConfig/dnsPeeringConfigs/[^/]+)/(?!domain).*"),
    re.compile(r"(studySpec/metrics/[^/]+|modelToUpload|studySpec/[^/]*StoppingSpec)/.*"),
)
"""Groups of values that come and go as one."""
_OTHERS = re.compile("/code/|/machines$|TrialCount$")
"""Values that a parameter may have given, so that its default is not what all had."""
_GOAL = re.compile(r"studySpec/metrics/([^/]+)")
_FORM = re.compile(r"pythonPackageSpec/.*|launcher|containerSpec/(?!imageUri).*")
Leaves = dict[str, Leaf]
_SECONDS = re.compile(r"\d+(\.\d+)?s")
_SHORT = {"<pool>": "pools/(?P<role>[^/]+)", "<code>": "(code|containerSpec|pythonPackageSpec)"}
RULES = read_rules(Path(__file__).with_name("requests.json"), _SHORT)


def effect_of(rule: Rule, difference: Difference, a: str, b: str) -> Effect:
    """Return the effect of a difference. `a` and `b`: the sides as a comment may have them; a resource's full name is
    shortened to its last part, where that differs."""
    sides = difference.before, difference.after
    says = rule.told(*sides, difference.holds)
    if isinstance(says, str) and says.endswith("()"):
        effect: Effect = vars(effects)[says[:-2]](difference)
        return effect
    whole = tuple(side if side == HIDDEN else f"`{side}`" if side else "nothing" for side in (a, b))
    short = tuple(
        shown(last_part(text)) if (text := str(leaf)).startswith("projects/") else side
        for leaf, side in zip(sides, whole, strict=True)
    )
    old, new = whole if short[0] == short[1] else short
    old = other_blanks(old, *sides)
    name, row = difference.name, cast("RowName | Row", says)
    inputs = (text for each, text in variables(difference.offers) if each == f"SLIPWAY_INPUT_{name}")
    asks = join(sorted({parameter for text in inputs for parameter in names(text)}), "or")
    values: dict[str, Any] = {"name": name, "input": name.lower(), "of": difference.of, "last": last_part(name)}
    accounts = {account_of(offer).partition("@")[0] for offer in difference.offers}
    values |= {"asks": asks, "more": b and new, "less": a and old, "limit": difference.limit}
    values["account"] = join(map(shown, sorted(accounts - {""})), "or") or "their account"
    return follows(row, old=old, new=new, **values)


def requests(template: TemplateChange) -> Iterator[Consequence]:
    """Find differences of the posted requests: the same difference of several offers and worker pools once."""
    old, new, preview = template.old, template.new, template.change.preview
    before, after = offers_by_label(old, new.kind), Offers(offers_by_label(new))
    before = Offers({label: offer for label, offer in before.items() if served(offer, new)})
    same = {label: (before[was], after[label]) for label, was in kept(before, after).items()}
    open_ = {label for label, (was, now) in same.items() if not refused(was, before) and not refused(now, after)}
    both = {label: sides for label, sides in same.items() if label in open_}
    # What no job is sent to, or was sent to, is no way that a sentence names.
    stand = {label for label, (was, now) in both.items() if not now.barred and bool(was.cluster) == bool(now.cluster)}
    both = {label: sides for label, sides in both.items() if label in stand} or both
    both |= dict(_elsewhere(before, after, {*both}))
    values = _values(old, new)
    places: dict[tuple[Rule, str, str, Leaf | None, Leaf | None], dict[str, list[str]]] = {}
    for label, sides in both.items():
        filled = [replace(side, request=fill(side.request, some)) for side, some in zip(sides, values, strict=True)]
        of_type = sides[0].capacity_type != sides[1].capacity_type
        given = {path: each for path, each, _ in _differences(template, sides[0], filled[1]) if _OTHERS.search(path)}
        asked = {path: each for path, _, each in _differences(template, filled[0], sides[1]) if _OTHERS.search(path)}
        for path, was, now in _differences(template, *filled):
            written, becomes = _written(was, given.get(path, was), now), now
            if isinstance(now, tuple):
                becomes = _written(now, asked.get(path, now), was)
            if of_type and path.endswith(("/reservation", "/strategy", "/slipway-capacity-type")):
                continue  # The ways to run tell it.
            rule, named = rule_of(path, RULES)
            key = rule, named.get("name", ""), named.get("of", ""), written, becomes
            places.setdefault(key, {}).setdefault(label, []).append(named.get("role", ""))
    plain, catalogs = _plain_places(template), (template.was, template.becomes)
    for (rule, name, of, was, becomes), at in places.items():
        if rule.what == "machines":
            at = {label: roles for label, roles in at.items() if both[label][1].available} or at
        offers = tuple(both[label][1] for label in at)
        clusters = [[side.clusters.get(offer.cluster) for side in catalogs] for offer in offers]
        keyed = all(len({each and each.kms_key for each in pair}) > 1 for pair in clusters)
        if rule.kind == "encryption-changed" and keyed:
            continue  # It is the clusters' own key, whose edit is reported.
        stays = address_of(str(was), template.was) == address_of(str(becomes), template.becomes)
        if rule.kind == "account-changed" and stays and preview and preview.errors:
            continue  # It names a trainer that the stack has no more.
        # A plain secret has a row of its own.
        if isinstance(becomes, tuple) or _called(rule, name) not in plain:
            yield _told(rule, Difference(name, of, was, becomes, offers, template), at, both)


def _elsewhere(before: Offers, after: Offers, stay: set[str]) -> Iterator[tuple[str, tuple[Offer, Offer]]]:
    """Yield the first way to run before and after of jobs that keep none."""
    for label, offer in after.items():
        former = next((each for each in before.beside(offer).values() if each.available), None)
        if former and offer.available and stay.isdisjoint(after.beside(offer)):
            stay.add(label)
            yield label, (former, offer)


def _told(
    rule: Rule, difference: Difference, at: Mapping[str, list[str]], both: Mapping[str, tuple[Offer, Offer]]
) -> Consequence:
    template, offers = difference.template, difference.offers
    catalogs = (template.was, template.becomes)
    a, b = (address_of(side, catalog) for side, catalog in zip(_sides(difference), catalogs, strict=True))
    says = effect_of(rule, difference, a, b)
    roles = [role for role in dict.fromkeys(role for some in at.values() for role in some) if role]
    every_role = {role for label in at for side in both[label] for role in side.roles}
    part_of = f" of {join(roles)}" if roles and len(every_role) > len(roles) else ""
    # What differs in each offer of another kind of job is that kind's.
    kind = offers[0].kind
    whole = kind != template.new.kind and {*at} == {label for label, (_, new) in both.items() if new.kind == kind}
    some = f" in {join(at)}" if len(at) < len(both) and not whole else ""
    part = f"{_called(rule, difference.name)}{part_of}{some}".replace("`", "")
    case = whose(offers, template.new) or whose((both[label][0] for label in at), template.old)
    case += as_kind(offers[0], template.new) * whole
    # Other machines are another shape, of which the sentence has the name; another disk leaves the shape.
    shapes = [[side.shape for side in both[label]] for label in at]
    renamed = rule.what == "machines" and all(old != new for old, new in shapes)
    known = [replace(both[label][0], shape="") for label in at] if renamed else offers
    ways = dict.fromkeys(map(by, known))
    declared = Offers({label: sides[1] for label, sides in both.items()})
    rivals = {label for each in offers for label in declared.beside(each)}
    only = f" {join(ways)}" if len(ways) < len({by(declared[label]) for label in rivals}) else ""
    moved = any(was.capacity_type != now.capacity_type for was, now in map(both.__getitem__, at))
    # An account that stays may be another trainer's.
    edit = Edit(part.removesuffix(some) if moved else part, *((a, b) if a != b else _sides(difference)))
    subject, edits = Subject("template", template.new.name, part), (edit,) if rule.what != "idle" else ()
    theirs = f" in role{'s' * bool(roles[1:])} {join(roles)}" if part_of and rule.what == "machines" else ""
    says = replace(says, kind=rule.kind, does=f"{says.does}{theirs}")
    return told_by(says, subject, who=f"{JOBS}{case}{only}", edits=edits, details=says.details)


def _sides(difference: Difference) -> tuple[str, str]:
    """Return both values as a comment may have them; of lists the texts that differ."""
    before, after, name = difference.before, difference.after, difference.name
    if not isinstance(before, tuple) and not isinstance(after, tuple):
        return _side(before, after, name), _side(after, before, name)
    old, new = (list(side) if isinstance(side, tuple) else [] for side in (before, after))
    gone, came = ([*(Counter(one) - Counter(other)).elements()] for one, other in ((old, new), (new, old)))
    if not (gone or came):
        return _listed(old, new), _listed(new, old)
    # Beside those that stay, what is added took no other's place.
    rest = "…" * bool(old and new and not (gone and came))
    return f"{rest} {_listed(gone, came)}".strip(), f"{rest} {_listed(came, gone)}".strip()


def _side(leaf: Leaf | None, other: Leaf | None, name: str) -> str:
    if isinstance(leaf, str) and _SECONDS.fullmatch(leaf):
        return exact_span(float(leaf[:-1]))
    if leaf is None or "/secrets/" in str(leaf):
        return str(leaf or "")  # In parts a reference would look like a secret itself.
    return bare(leaf, name, beside=str(other or ""))


def _listed(arguments: list[str], others: list[str]) -> str:
    pairs = zip_longest(arguments[:4], others[: len(arguments)][:4], fillvalue="")
    more = len(arguments) - 4
    return " ".join([*(argument(*pair) for pair in pairs), *([f"and {more} more"] if more > 0 else [])])


def _values(old: Template, new: Template) -> tuple[Mapping[str, object], ...]:
    """Return values for the placeholders of both sides, as they are compared. A text that loses its parameter had the
    default, one that gains one has it, and a renamed one is known by its new name."""
    called = renames(old, new)
    before, after = (
        {each.name: None if has_secret(render(each.default), each.name) else each.default for each in side.parameters}
        for side in (old, new)
    )
    gone = {name: value for name, value in before.items() if name not in after and value is not None}
    known = {*before, *called.values()}
    added = {name: value for name, value in after.items() if name not in known and value is not None}
    renamed = {name: placeholder(other) for name, other in called.items()}
    return {**gone, **renamed}, added


def _written(leaf: Leaf | None, own: Leaf | None, other: Leaf | None) -> Leaf | None:
    """Return a value as its file has it; of arguments those that the other side has as well, as these are compared."""
    if not (isinstance(leaf, tuple) and isinstance(own, tuple) and len(leaf) == len(own)):
        return own
    stay = other if isinstance(other, tuple) else ()
    return tuple(text if text in stay else written for text, written in zip(leaf, own, strict=True))


def _differences(template: TemplateChange, old: Offer, new: Offer) -> Iterator[tuple[str, Leaf | None, Leaf | None]]:
    """Yield paths with both values, None where there is none."""
    was, becomes = template.was, template.becomes
    # By place, where their number is the same.
    pairs = zip(old.roles, new.roles, strict=True) if len(old.roles) == len(new.roles) else ()
    roles = {role: other for role, other in pairs if role not in new.roles and other not in old.roles}
    before, after = _joined(dict(flat(old, was, roles)), dict(flat(new, becomes)))
    for name, other in roles.items():
        yield "role", name, other
    pools = [", ".join(dict.fromkeys(filter(None, offer.pools))) for offer in (old, new)]
    if pools[0] != pools[1] and old.cluster == new.cluster:
        yield "pools", pools[0], pools[1]
    for path, a, b in compare(before, after):
        derived = path == "spec/pipeline" and not template.pipeline_edited
        repeated = (b is None and _repeats(path, before, after)) or (a is None and _repeats(path, after, before))
        # A reservation that can't be used is told with its offer, as is a cluster, which alone a task waits for.
        unlisted = path.endswith("/reservation") and not new.available
        unlisted = unlisted or ("/taskResource" in path and None in (a, b))
        if not (SILENT.fullmatch(path) or derived or repeated or unlisted or _other_form(path, before, after)):
            hides = f"{last_part(path)}__SECRET" in map(last_part, (*before, *after))
            yield (path, a and HIDDEN, b and HIDDEN) if hides else (path, a, b)


def _joined(before: Leaves, after: Leaves) -> tuple[Leaves, Leaves]:
    """Return the values with groups that come and go as one; one metric in another's place is a single difference."""
    sides = before, after
    for whole in _WHOLE:
        groups = [{match[1] for path in side if (match := whole.fullmatch(path))} for side in sides]
        sides = _whole(sides[0], whole, groups[1]), _whole(sides[1], whole, groups[0])
    goals = [[path for path in side if _GOAL.fullmatch(path)] for side in sides]
    if len(goals[0]) == len(goals[1]) == 1:
        for side, (path,) in zip(sides, goals, strict=True):
            goal = re.search("M(AX|IN)IMIZE", str(side[path]))
            side["studySpec/metrics"] = f"{last_part(path)}{f', {goal[0].lower()}d' if goal else ''}"
            del side[path]
    return sides


def _whole(leaves: Leaves, group: re.Pattern[str], others: Collection[str]) -> Leaves:
    """Return the values with those of each group as one, but for groups that the other side has too."""
    whole: Leaves = {}
    for path, leaf in leaves.items():
        match = group.fullmatch(path)
        if match and match[1] not in others:
            values = " ".join(leaf) if isinstance(leaf, tuple) else str(leaf)
            text, name = f"{last_part(path)} {values}", match[1]
            whole[name] = f"{whole[name]}, {text}" if name in whole else text
        else:
            whole[path] = leaf
    return whole


def _other_form(path: str, before: Leaves, after: Leaves) -> bool:
    """Tell whether it belongs to a package that replaces an image, or is replaced by one: the image is reported."""
    match = _POOL.fullmatch(path)
    if match is None or not _FORM.fullmatch(match["rest"]):
        return False
    image = f"pools/{match['role']}/containerSpec/imageUri"
    return (image in before) is not (image in after) and match["role"] in _roles(before) & _roles(after)


def _repeats(path: str, leaves: Leaves, others: Leaves) -> bool:
    """Tell whether another role of `leaves` has the value, and its own role they alone have; not of machines."""
    match = _POOL.fullmatch(path)
    if match is None or match["rest"] == "machines" or match["role"] in _roles(others):
        return False
    if match["rest"] == "place":
        return True
    beside = (f"pools/{role}/{match['rest']}" for role in _roles(leaves) if role != match["role"])
    return any(leaves.get(other) == leaves.get(path) for other in beside)


def _roles(leaves: Leaves) -> frozenset[str]:
    return frozenset(match["role"] for path in leaves if (match := _POOL.fullmatch(path)))


def plain_secrets(template: TemplateChange) -> Iterator[Consequence]:
    for place in _plain_places(template):
        env, task = map(place.startswith, ("environment", "pipeline"))
        yield template.tells("plain-secret", part=place, place=place, env=env, task=task)


def _plain_places(template: TemplateChange) -> Collection[str]:
    """Return places of plain values that look like a secret, or have a former secret's name: new or changed ones."""
    before, after = (
        [{**flat(offer, catalog), **of_tasks(offer)}.items() for offer in side.offers]
        for side, catalog in ((template.old, template.was), (template.new, template.becomes))
    )
    former = {*map(frozenset, before)}
    # To look for secrets takes long, and many offers have the same.
    edited = dict.fromkeys(chain.from_iterable(leaves for leaves in after if frozenset(leaves) not in former))
    if not edited:
        return ()
    standing = dict.fromkeys(chain.from_iterable(before))
    known = {*_plain(standing, frozenset())}
    found = _plain(edited, frozenset(last_part(path) for path, _ in standing))
    return dict.fromkeys(place for place, text in found if (place, text) not in known)


def _plain(leaves: Iterable[tuple[str, Leaf]], were: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield places that seem to have a secret in plain text, `environment variable HF_TOKEN`, with the text. `were`:
    the last parts of the other side's paths."""
    for path, leaf in leaves:
        given_by_name = path.endswith(("args", "command"))
        for value in leaf if isinstance(leaf, tuple) else (str(leaf),):
            name, _, given = value.partition("=") if given_by_name else (last_part(path), "", value)
            called = "secret" if f"{last_part(path)}__SECRET" in were else name.lstrip("-")
            if has_secret(given, called) or has_secret(value):
                rule, named = rule_of(path, RULES)
                yield _called(rule, named.get("name", "")), value


def _called(rule: Rule, name: str) -> str:
    """Return the place as a comment may have it: its name is what somebody has written, too."""
    return rule.called(HIDDEN if has_secret(name) else name)
