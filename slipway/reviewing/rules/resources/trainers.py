"""Trainers: the accounts that templates may run as, the members who may act as each, and a template's gains and losses
by another trainer.

A member who may act as a trainer may run any code as it, and so read every secret that it reads: a template that moves
from one trainer to another moves between people and between secrets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from slipway.base.formatting import counted, join
from slipway.model.catalog.model import Catalog, Template
from slipway.model.facts import Facts, TrainerFacts
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.usual import job_spec, secret_in
from slipway.reviewing.rules.words import named, several


def trainers(change: Change) -> Iterator[Finding]:
    if change.before is None or change.after is None:
        return
    before, after = _trainers(change.before), _trainers(change.after)
    for name in after:
        if name not in before:
            yield _added(after[name], change.after.catalog)
    for name, old in before.items():
        if name not in after:
            yield _gone(old)
        else:
            yield from _account(old, after[name])
            yield from _access(old, after[name], change.before, change.after)
    for name, template in change.after.catalog.templates.items():
        was = change.before.catalog.templates.get(name)
        if was is not None:
            yield from _moved(was, template, change.before, change.after)


def acting(facts: Facts | None) -> frozenset[tuple[str, str]]:
    """Return pairs of an account's address and a member whom the stack file lets act as it."""
    known = _trainers(facts).values() if facts else ()
    return frozenset((one.account, member) for one in known for member in one.submitters)


def trainers_alone(facts: Facts | None, member: str) -> tuple[str, ...]:
    """Return the trainers that a member may act as, where the workspace's own is not among them."""
    if facts is None or member in facts.submitters:
        return ()
    return tuple(name for name, one in facts.trainers.items() if member in one.submitters)


def submitting_as(facts: Facts, account: str) -> str:
    """Return `every submitter`: those whose jobs run as an account. Empty for an account that no job runs as."""
    if account == facts.catalog.trainer:
        return "every submitter"
    for name, one in facts.trainers.items():
        if one.account == account:
            return f"whoever submits as trainer `{name}`"
    templates = facts.catalog.templates.items()
    theirs = [name for name, one in templates if account in _accounts(one)]
    return f"whoever submits {named(map(_quoted, theirs))}" if theirs else ""


def _trainers(facts: Facts) -> Mapping[str, TrainerFacts]:
    """Return trainers by name, which is empty for the workspace's own."""
    return {"": TrainerFacts("", facts.catalog.trainer, dict.fromkeys(facts.submitters, "")), **facts.trainers}


def _words(one: TrainerFacts) -> str:
    return f"trainer `{one.name}`" if one.name else "the account that most jobs run as"


def _key(one: TrainerFacts) -> str:
    """Return the key. Frozen: approvals know it."""
    return f"trainer {one.name}" if one.name else "the workspace's trainer"


def _id(one: TrainerFacts) -> str:
    return one.account.partition("@")[0]


def _field(one: TrainerFacts) -> str:
    return f"slipway:{f'trainers.{one.name}' if one.name else 'workspace'}.submitters"


def _of(template: Template, some: Mapping[str, TrainerFacts]) -> TrainerFacts | None:
    return next((one for one in some.values() if one.account in _accounts(template)), None)


def _accounts(template: Template) -> frozenset[str]:
    return frozenset(str(job_spec(offer).get("serviceAccount", "")) for offer in template.offers)


def _added(one: TrainerFacts, catalog: Catalog) -> Finding:
    runs = [name for name, template in catalog.templates.items() if _of(template, {one.name: one})]
    who = f"{named(map(_quoted, one.submitters))} may run any code as it" if one.submitters else "nobody may submit"
    jobs = f"Jobs of {named(map(_quoted, runs))} run" if runs else "Templates may run"
    return KINDS["trainer-added"].of(
        Subject("trainer", one.name),
        f"{jobs} as {_words(one)} (account `{_id(one)}`): {who}",
        details=several(map(_quoted, one.submitters)),
        field=f"slipway:trainers.{one.name}",
    )


def _gone(old: TrainerFacts) -> Finding:
    who = f", and {named(map(_quoted, old.submitters))} can't submit as it" if old.submitters else ""
    words = f"Nothing new runs as {_words(old)} (account `{_id(old)}`){who}"
    details = several(map(_quoted, old.submitters))
    return KINDS["trainer-gone"].of(Subject("trainer", old.name), words, details=details, field="slipway:trainers")


def _account(old: TrainerFacts, new: TrainerFacts) -> Iterator[Finding]:
    if old.name and old.account != new.account:  # The workspace's own is reported with the templates.
        yield KINDS["account-changed"].of(
            Subject("trainer", old.name),
            f"New jobs of {_words(old)} run as account `{_id(new)}`, not `{_id(old)}`",
            details=(f"runs as `{new.account}`, until now as `{old.account}`",),
            more=": secrets and data that the old one may read, it may not until somebody grants them",
            field=f"slipway:trainers.{old.name}.account",
        )


def _access(old: TrainerFacts, new: TrainerFacts, before: Facts, after: Facts) -> Iterator[Finding]:
    stay = set(before.people) & set(after.people)
    templates = named(_quoted(name) for name, one in after.catalog.templates.items() if _of(one, {new.name: new}))
    read = secrets(after.catalog, new.account)
    for member in (one for one in new.submitters if one in stay and one not in old.submitters):
        reading = f", which reads {read}" if read else ""
        yield KINDS["trainer-access-added"].of(
            Subject("member", member, _key(new)),
            f"`{member}` may submit as {_words(new)} too, and so run any code as account `{_id(new)}`{reading}",
            field=_field(new),
        )
    for member in (one for one in old.submitters if one in stay and one not in new.submitters):
        what = f": {templates} {'is' if templates.count('`') == 2 else 'are'} refused to them" if templates else ""
        yield KINDS["trainer-access-gone"].of(
            Subject("member", member, _key(new)),
            f"`{member}` can't submit as {_words(new)} any more{what}",
            grade=None if templates else Grade.WARNING,
            field=_field(new),
        )


def _moved(was: Template, template: Template, before: Facts, after: Facts) -> Iterator[Finding]:
    old, new = _of(was, _trainers(before)), _of(template, _trainers(after))
    if old is None or new is None or old.name == new.name:
        return
    lost = [one for one in old.submitters if one not in new.submitters]
    gained = [one for one in new.submitters if one not in old.submitters]
    own = _secrets(after.catalog, new.account, only=template.name)
    more = _secrets(after.catalog, new.account) - own - _secrets(before.catalog, old.account)
    words = f"Jobs of `{template.name}` run as account `{_id(new)}`"
    if lost:
        words = f"Submissions of `{template.name}` are refused to {named(map(_quoted, lost))}"
    elif gained:
        words += f", and {named(map(_quoted, gained))} may submit them"
    told = (
        f"its new account needs access to {_named_secrets(own)}, which is not granted with it" if own else "",
        f"its code may also read {_named_secrets(more)}" if more else "",
    )
    yield KINDS["trainer-changed"].of(
        Subject("template", template.name, "trainer"),
        words,
        more="".join(f"; {one}" for one in told if one),
        clause=f"`{template.name}` is refused to {counted(len(lost), 'submitter')}" if lost else "",
        details=(
            f"runs as `{new.account}`, until now as `{old.account}`",
            *several(f"`{member}` can't submit it any more" for member in lost),
            *(f"`{member}` may submit it now" for member in gained),
            *(f"reads secret `{one}`, which `{new.account}` must be allowed to" for one in sorted(own)),
            *(f"may read secret `{one}`, as other templates of {_words(new)} do" for one in sorted(more)),
        ),
        grade=Grade.BLOCKING if lost or own else None,
        field="trainer",
    )


def _named_secrets(some: Collection[str]) -> str:
    return f"secret `{min(some)}`" if len(some) == 1 else f"{len(some)} secrets"


def _secrets(catalog: Catalog, account: str, only: str = "") -> frozenset[str]:
    templates = (one for name, one in catalog.templates.items() if only in ("", name))
    specs = (job_spec(offer) for template in templates for offer in template.offers)
    pools = (pool for spec in specs if spec.get("serviceAccount") == account for pool in spec["workerPoolSpecs"])
    codes = (pool.get("containerSpec") or pool.get("pythonPackageSpec") or {} for pool in pools)
    entries = (one for code in codes for one in code.get("env") or () if str(one.get("name", "")).endswith("__SECRET"))
    return frozenset(secret_in(str(one.get("value", ""))) for one in entries) - {""}


def _quoted(word: str) -> str:
    return f"`{word}`"


def reads(catalog: Catalog, account: str) -> str:
    """Return ` as the account that reads secret `hf-token``: a submitter can run code that does so too."""
    found = secrets(catalog, account)
    return f" as the account that reads {found}" if found else ""


def secrets(catalog: Catalog, account: str) -> str:
    """Return `secret `hf-token``, empty where its jobs read none."""
    found = _secrets(catalog, account)
    return _named_secrets(found) if found else ""


def submits_as(names: Collection[str]) -> str:
    """Return ` as trainer `evals` alone`, empty for members who may act as the workspace's."""
    return f" as trainer {join(map(_quoted, names))} alone" if names else ""
