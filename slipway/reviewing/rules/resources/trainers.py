"""Trainers: the accounts that templates may run as, and the members who may act as each.

A member who may act as a trainer may run any code as it, and so read every secret that it reads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from slipway.google.catalog.lookup import groups_of, takers_of, teams_of
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Template
from slipway.model.facts import Facts, TrainerFacts
from slipway.model.findings.finding import Grade, Subject
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.usual import account_of, secret_in, secrets_of
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import by_row, say
from slipway.reviewing.rules.words import in_backticks


def trainers(change: Change) -> Iterator[Consequence]:
    before, after = _trainers(change.before), _trainers(change.after)
    # One that keeps its account under another name is the same.
    names = {each.account: name for name, each in after.items() if name not in before}
    before = {name if name in after else names.get(each.account, name): each for name, each in before.items()}
    for name in dict.fromkeys((*after, *before)):
        old, new = before.get(name), after.get(name)
        if old and new:
            if name and old.account != new.account:  # The workspace's own is reported with the templates.
                edits = (Edit("account", old.account, new.account),)
                runs, subject = _templates_of(new.account, change.new), Subject("trainer", name)
                values: dict[str, Any] = {"trainer": called(old), "name": name, "account": new.account, "runs": runs}
                values |= {"details": map("`{}`".format, runs), "grade": None if runs else Grade.NOTE}
                yield by_row("trainer-account-changed", subject, edits=edits, **values)
            yield from _access(old, new, change)
        elif trainer := new or old:
            values = {"trainer": called(trainer), "name": name, "members": in_backticks(trainer.submitters)}
            values["runs"] = in_backticks(_templates_of(trainer.account, change.new))
            values["details"] = (f"account `{trainer.account}`", *map("`{}`".format, trainer.submitters))
            yield by_row("trainer-added" if new else "trainer-gone", Subject("trainer", name), **values)


def acting(facts: Facts) -> frozenset[tuple[str, str]]:
    """Return pairs of an account's address and a member whom the stack file lets act as it."""
    return frozenset((each.account, member) for each in _trainers(facts).values() for member in each.submitters)


def trainer_of(facts: Facts, account: str) -> TrainerFacts | None:
    return next((trainer for trainer in _trainers(facts).values() if trainer.account == account), None)


def is_made(change: Change, account: str) -> bool:
    """Tell whether the deployment makes a trainer's account, which has no right before."""
    made = trainer_of(change.after, account) and not trainer_of(change.before, account)
    return bool(made) and account not in change.after.adopted


def submitters_of(facts: Facts, account: str) -> Collection[str]:
    """Return the members who may submit jobs that run as an account: the workspace's for one that is no trainer."""
    trainer = trainer_of(facts, account)
    return trainer.submitters if trainer else facts.submitters


def users_of(facts: Facts, template: Template, offer: Offer) -> Collection[str]:
    """Return the members who may send jobs by an offer: of a team's cluster, and of its machines, those of the team."""
    may, teams = submitters_of(facts, account_of(offer)), teams_of(facts.catalog, offer)
    owners = facts.catalog.owners(offer.cluster or offer.dormant)
    if not offer.team and (not owners or (len(teams) == 1 and teams[0] in owners)):
        return may
    some = takers_of(facts.catalog, template, offer) & {*(owners or teams)}
    return [member for member in may if some & {*groups_of(facts.catalog, [member])}]


def _may_submit(facts: Facts, name: str) -> set[str]:
    return {member for of in _accounts(facts.catalog.templates[name]) for member in submitters_of(facts, of)}


def submitted(change: Change, facts: Facts, member: str) -> list[str]:
    """Return the templates, of those that were there and stay, that a member may submit by one version."""
    both = (name for name in change.new.templates if name in change.old.templates)
    return [name for name in both if member in _may_submit(facts, name)]


def deserted(change: Change, member: str) -> str:
    """Return the templates that without a member scripts alone can submit, or nobody; without a script those that
    nobody can."""
    robots = () if member.startswith(robot := "serviceAccount:") else robot
    theirs = submitted(change, change.before, member)
    return in_backticks(
        name for name in theirs if all(each.startswith(robots) for each in _may_submit(change.after, name))
    )


def submitting_as(facts: Facts, account: str) -> str:
    """Return those whose jobs run as an account; empty for an account that no job runs as."""
    theirs = in_backticks(_templates_of(account, facts.catalog))
    return say("submitters-as", all=account == facts.catalog.trainer, templates=theirs)


def _trainers(facts: Facts) -> Mapping[str, TrainerFacts]:
    """Return trainers by name, which is empty for the workspace's own."""
    return {"": TrainerFacts("", facts.catalog.trainer, dict.fromkeys(facts.submitters, "")), **facts.trainers}


def called(trainer: TrainerFacts) -> str:
    return say("trainer-name", name=trainer.name)


def field_of(facts: Facts, other: Facts, member: str) -> str:
    """Return the key that lists a member in one version alone: of a team, of the workspace, else of a trainer."""
    keys, others = (
        [f"teams.{name}" for name, team in side.catalog.teams.items() if member in team.submitters]
        + ["workspace"] * (member in side.submitters)
        + [f"trainers.{name}" for name, trainer in side.trainers.items() if member in trainer.submitters]
        for side in (facts, other)
    )
    return next((f"slipway:{key}.submitters" for key in keys if key not in others), "")


def _accounts(template: Template) -> frozenset[str]:
    return frozenset(map(account_of, template.offers))


def _templates_of(account: str, catalog: Catalog) -> list[str]:
    return [name for name, template in catalog.templates.items() if account in _accounts(template)]


def _access(old: TrainerFacts, new: TrainerFacts, change: Change) -> Iterator[Consequence]:
    stay = set(change.before.people) & set(change.after.people)
    part = called(new).replace("`", "")  # Frozen: approvals know it.
    keys = [f"slipway:trainers.{each.name}.submitters" if each.name else "" for each in (old, new)]
    values: dict[str, Any] = {"trainer": called(new), "account": new.account}
    values |= {"read": in_backticks(sorted(secrets_read(change.old, new.account)))}
    for member in new.submitters:
        if member in stay and member not in old.submitters:
            subject, field = Subject("member", member, part), keys[1] or field_of(change.after, change.before, member)
            yield by_row("trainer-access-added", subject, field=field, **values)
    for member in old.submitters:
        if member in stay and member not in new.submitters:
            others, theirs = holding(new.submitters, member), submitted(change, change.before, member)
            runs = sorted({*_templates_of(new.account, change.new)}.intersection(theirs))
            subject, field = Subject("member", member, part), keys[0] or field_of(change.before, change.after, member)
            values |= {"templates": in_backticks(runs), "deserted": deserted(change, member), "others": others}
            grade = Grade.WARNING if not runs else Grade.NOTE if f"domain:{domain_of(member)}" in others else None
            yield by_row("trainer-access-gone", subject, field=field, grade=grade, **values)


def teams_counted(catalog: Catalog) -> frozenset[str]:
    """Return the teams that submissions may count for."""
    return frozenset(team for offer in catalog.offers if not offer.team for team in teams_of(catalog, offer))


def secrets_read(catalog: Catalog, account: str) -> frozenset[str]:
    """Return the secrets that jobs of an account read: their templates', and the address that each job tells."""
    offers = catalog.offers_as(account)
    told = [secret_in(catalog.notify) or catalog.notify] if offers and catalog.notify else []
    return frozenset((*secrets_of(offers), *told))


def domain_of(member: str) -> str:
    """Return the domain of people, `acme.example`; empty for accounts."""
    of_people = member.startswith(("user:", "group:", "domain:"))
    return member.rpartition("@" if "@" in member else ":")[2] if of_people else ""


def holding(listed: Collection[str], member: str) -> list[str]:
    """Return the domain of people, and the groups that may hold some of them: nobody reads who is in a group."""
    domain = domain_of(member)
    return [other for other in listed if domain and (other.startswith("group:") or other == f"domain:{domain}")]
