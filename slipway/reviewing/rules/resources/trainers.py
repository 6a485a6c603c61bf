"""Trainers: the accounts that templates may run as, the members who may act as each, and a template's gains and losses
by another trainer.

A member who may act as a trainer may run any code as it, and so read every secret that it reads: a template that moves
from one trainer to another moves between people and between secrets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from slipway.model.catalog.model import Catalog, Template
from slipway.model.facts import Facts, TrainerFacts
from slipway.model.findings.finding import Subject
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.usual import account_of, secrets_of
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.words import named


def trainers(change: Change) -> Iterator[Consequence]:
    before, after = _trainers(change.before), _trainers(change.after)
    for name in dict.fromkeys((*after, *before)):
        old, new = before.get(name), after.get(name)
        if old and new:
            if name and old.account != new.account:  # The workspace's own is reported with the templates.
                edits = (Edit("account", old.account, new.account),)
                details = _quoted((*_runs(new, change.new), *sorted(_secrets(change.new, new.account))))
                subject = Subject("trainer", name)
                values: dict[str, Any] = {"trainer": _words(old), "name": name, "account": new.account}
                yield by_row("trainer-account-changed", subject, edits=edits, details=details, **values)
            yield from _access(old, new, change)
        elif trainer := new or old:
            so, members = "" if old else "nobody may submit them", _names(trainer.submitters)
            if members:
                so = f"{members} may run any code as it" if new else f"{members} can't submit as it"
            runs = _runs(trainer, change.new)
            yield by_row(
                "trainer-added" if new else "trainer-gone",
                Subject("trainer", name),
                trainer=_words(trainer),
                name=name,
                who=f"Jobs of {_names(runs)}" if runs else "Templates that choose it",
                so=so,
                details=(f"account `{trainer.account}`", *_quoted(trainer.submitters)),
            )
    for name, template in change.new.templates.items():
        if name in change.old.templates:
            yield from _moved(change.old.templates[name], template, change)


def acting(facts: Facts) -> frozenset[tuple[str, str]]:
    """Return pairs of an account's address and a member whom the stack file lets act as it."""
    known = _trainers(facts).values()
    return frozenset((trainer.account, member) for trainer in known for member in trainer.submitters)


def submitters_of(facts: Facts, account: str) -> Collection[str]:
    """Return the members who may submit jobs that run as an account: the workspace's for one that is no trainer."""
    trainers = (trainer for trainer in _trainers(facts).values() if trainer.account == account)
    return next((trainer.submitters for trainer in trainers), facts.submitters)


def submitting_as(facts: Facts, account: str) -> str:
    """Return `every submitter`: those whose jobs run as an account. Empty for an account that no job runs as."""
    if account == facts.catalog.trainer:
        return "every submitter"
    theirs = [name for name, template in facts.catalog.templates.items() if account in _accounts(template)]
    return f"whoever submits {_names(theirs)}" if theirs else ""


def secrets(catalog: Catalog, *accounts: str) -> str:
    """Return `secret `hf-token``, of the first of these accounts whose jobs read any; empty where none do."""
    return next(filter(None, (_named_secrets(_secrets(catalog, account)) for account in accounts)), "")


def _trainers(facts: Facts) -> Mapping[str, TrainerFacts]:
    """Return trainers by name, which is empty for the workspace's own."""
    return {"": TrainerFacts("", facts.catalog.trainer, dict.fromkeys(facts.submitters, "")), **facts.trainers}


def _words(trainer: TrainerFacts) -> str:
    return f"trainer `{trainer.name}`" if trainer.name else "the workspace's trainer"


def _field(trainer: TrainerFacts) -> str:
    return f"slipway:{f'trainers.{trainer.name}' if trainer.name else 'workspace'}.submitters"


def _accounts(template: Template) -> frozenset[str]:
    return frozenset(map(account_of, template.offers))


def _runs(trainer: TrainerFacts, catalog: Catalog) -> list[str]:
    return [name for name, template in catalog.templates.items() if trainer.account in _accounts(template)]


def _access(old: TrainerFacts, new: TrainerFacts, change: Change) -> Iterator[Consequence]:
    stay = set(change.before.people) & set(change.after.people)
    read, runs = secrets(change.new, new.account), _runs(new, change.new)
    part = _words(new).replace("`", "")  # Frozen: approvals know it.
    so = f"it reads {read}, which any code of theirs can read then"
    so = so if read else f"so they may do all that `{new.account}` may"
    values: dict[str, Any] = {"trainer": _words(new), "templates": _names(runs), "so": so}
    values |= {"field": _field(new), "list": _field(new)}
    gone = "trainer-access-gone" if runs and new.submitters else f"trainer-access-gone-{'all' if runs else 'unused'}"
    for member in new.submitters:
        if member in stay and member not in old.submitters:
            subject = Subject("member", member, part)
            yield by_row("trainer-access-added", subject, details=(f"account `{new.account}`",), **values)
    for member in old.submitters:
        if member in stay and member not in new.submitters:
            others = [other for other in new.submitters if member.startswith("user:") and other.startswith("group:")]
            unless = f", unless in {_names(others)}" if others else ""
            yield by_row(gone, Subject("member", member, part), unless=unless, **values)


def _moved(was: Template, template: Template, change: Change) -> Iterator[Consequence]:
    old, new = (
        next((trainer for trainer in _trainers(facts).values() if trainer.account in _accounts(side)), None)
        for facts, side in ((change.before, was), (change.after, template))
    )
    if old is None or new is None or old.name == new.name:
        return
    lost = [member for member in old.submitters if member not in new.submitters]
    gained = [member for member in new.submitters if member not in old.submitters]
    own = _secrets(change.new, new.account, only=template.name)
    more = _secrets(change.new, new.account) - own - _secrets(change.old, old.account)
    fresh = new.account not in (change.old.trainer, *change.old.trainers.values())
    of_own = "common" if not new.name else "new" if fresh else "secret"
    end = of_own if own else "more" if more else "people" if gained else "plain"
    yield by_row(
        f"trainer-changed-{end}{'-refused' if lost else ''}",
        Subject("template", template.name, "trainer"),
        lost=_names(lost),
        new=_words(new),
        old=_words(old),
        own=_named_secrets(own),
        more=_named_secrets(more),
        gained=_names(gained),
        list=_field(new),
        account=new.account,
        edits=(Edit("account", old.account, new.account),),
        details=(
            *(f"`{member}` can't submit it any more" for member in lost),
            *(f"`{member}` may submit it now" for member in gained),
            *(f"reads secret `{secret}`, which `{new.account}` must be allowed to" for secret in sorted(own)),
            *(f"may read secret `{secret}`, as other templates of {_words(new)} do" for secret in sorted(more)),
        ),
    )


def _named_secrets(some: Collection[str]) -> str:
    return f"secret `{min(some)}`" if len(some) == 1 else f"{len(some)} secrets" if some else ""


def _secrets(catalog: Catalog, account: str, only: str = "") -> frozenset[str]:
    templates = (template for name, template in catalog.templates.items() if only in ("", name))
    offers = (offer for template in templates for offer in template.offers)
    return frozenset(secrets_of(offer for offer in offers if account_of(offer) == account))


def _quoted(words: Collection[str]) -> tuple[str, ...]:
    return tuple(f"`{word}`" for word in words)


def _names(words: Collection[str]) -> str:
    return named(_quoted(words))
