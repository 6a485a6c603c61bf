"""Templates before and after, as submitters by name meet them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from slipway.base.formatting import join
from slipway.google.catalog.lookup import regions_of, usual_offers
from slipway.model.catalog.cases import divided
from slipway.model.catalog.template import Template
from slipway.model.facts import offers_by_label
from slipway.model.findings.finding import Grade, Subject
from slipway.model.kinds import KINDS
from slipway.model.labels import CODE_LABEL
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.usual import Offers, account_of, costs, is_dear, scripts, secrets_of, whose
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.declared import compare, rule_of
from slipway.reviewing.rules.table import RowName, say
from slipway.reviewing.rules.templates.code import arguments, code, indexes, secret_requirements
from slipway.reviewing.rules.templates.leaves import shared
from slipway.reviewing.rules.templates.offers import offers, refused, shrunk
from slipway.reviewing.rules.templates.parameters import parameters, plain_defaults
from slipway.reviewing.rules.templates.requests import RULES, plain_secrets, requests
from slipway.reviewing.rules.templates.unavailable import no_offer_left
from slipway.reviewing.rules.templates.usage import TemplateChange, facts


def templates(change: Change) -> Iterator[Consequence]:
    before = change.old.templates
    called = {name: was for was, name in change.other_names.items()}
    for name in (*sorted(before.keys() - change.new.templates.keys()), *called):
        gone = TemplateChange(change, before[name], before[name])
        own = before[name] in scripts(change.old) and not scripts(change.new)
        told = gone.tells("template-gone", used=gone.used, other=name if name in called else "", own=own)
        yield replace(told, subject=Subject("template", called.get(name, name)))
    alike = shared(change.old) == shared(change.new)
    for name, template in change.new.templates.items():
        old = before.get(name)
        yield from shrunk(TemplateChange(change, old or template, template))
        if alike and old == template:
            continue
        nothing = replace(template, offers=(), parameters=(), requirements=(), package="")
        pair = TemplateChange(change, *divided(old or nothing, template), is_new=old is None)
        parts = (
            (_added, arguments)
            if pair.is_new
            else (arguments, parameters, offers, requests, code, _kinds, _flags, _regions)
        )
        listed = Offers(offers_by_label(template))
        # Where its file refuses the defaults, the case tells it.
        can_lack = pair.is_new or not all(refused(each, listed) for each in usual_offers(template))
        for part in (*parts, *[no_offer_left] * can_lack, plain_secrets, plain_defaults, secret_requirements):
            yield from part(pair)


def _added(template: TemplateChange) -> Iterator[Consequence]:
    can = [offer for offer in usual_offers(template.new) if offer.available]
    brings = () if template.change.first else tuple(_brings(template))
    price = costs(can[0], template.becomes) if can and not template.change.first else ""
    grade = Grade.BLOCKING if brings else Grade.WARNING if any(map(is_dear, can)) else None
    yield template.tells(
        "template-added", brings=facts(*brings), case=whose(can, template.new), costs=price, grade=grade
    )


def _brings(template: TemplateChange) -> Iterator[str]:
    """Yield what a new template opens that no other does: an account, a secret, an index of packages, a shell, and
    where the stack allows it, people's own code."""
    new, catalog = template.new, template.becomes
    # One that goes had it as well.
    others = [each for each in (*template.was.templates.values(), *catalog.templates.values()) if each.name != new.name]
    common = {catalog.trainer, *catalog.trainers.values(), ""}
    theirs = [offer for each in others for offer in each.offers]
    asked = {index for each in others for index in indexes(each.requirements)}
    allowed = template.change.before.code and template.change.after.code
    brought = {
        "account": {*map(account_of, new.offers)} - common - {*map(account_of, theirs)},
        "secret": {*secrets_of(new.offers)} - {*secrets_of(theirs)},
        "index": {*indexes(new.requirements)} - asked - {*indexes(())},
        "shell": {"shell" for offer in new.offers if offer.spec.get("enableWebAccess")},
        "code": {"code"} if allowed and new.takes_code and not any(each.takes_code for each in others) else set(),
    }
    for what, some in brought.items():
        yield from (say("template-brings", **{**dict.fromkeys(brought, ""), what: each}) for each in sorted(some))


def _declared(template: Template) -> Mapping[str, str]:
    """Return the flags that a template says and that stand in no request."""
    flags = {"codeFlag": template.takes_code, "checkpoints": template.checkpoints}
    return {path: "true" for path, says in flags.items() if says}


def _flags(template: TemplateChange) -> Iterator[Consequence]:
    change = template.change
    for path, before, after in compare(_declared(template.old), _declared(template.new)):
        rule, _ = rule_of(path, RULES)
        row = cast("RowName", rule.told(before, after, {"keeps_nothing": template.keeps_nothing, "": True}.__getitem__))
        # Otherwise it is reported for the stack.
        if path != "codeFlag" or change.before.code == change.after.code:
            refuses = path == "codeFlag" and after is None
            used = template.used.having(lambda job: CODE_LABEL in job.labels) if refuses else None
            own = scripts(change.old) and not scripts(change.new)
            yield template.tells(row, part=rule.what, used=used, own=own)


def _regions(template: TemplateChange) -> Iterator[Consequence]:
    """Find other regions where machines of a job's own may be, or may be no more."""
    home = template.becomes.region
    old, new = (regions_of(side, home) for side in (template.old, template.new))
    more, less = [each for each in new if each not in old], [each for each in old if each not in new]
    order = new if old != new and not (more or less) else ()
    rows: dict[RowName, Sequence[str]] = {"regions-added": more, "regions-gone": less, "regions-order": order}
    for row, regions in rows.items():
        if regions:
            used = template.used.having(lambda job: job.region in less) if row == "regions-gone" else None
            yield template.tells(row, part=row.replace("-", " "), used=used, regions=join(regions, "or"), home=home)


def _kinds(template: TemplateChange) -> Iterator[Consequence]:
    old, new = template.old, template.new
    for kind in old.kinds:
        if kind not in new.kinds:
            lost = template.used.having(lambda job, kind=kind: job.kind.name == kind)  # type: ignore[misc]
            yield template.tells("kind-gone", part=f"kind {kind}", used=lost, kind=_words(kind), word=kind)
    for kind in new.kinds:
        if kind not in old.kinds:
            yield template.tells("kind-added", part=f"kind {kind}", kind=_words(kind))
    if new.kind != old.kind and {old.kind, new.kind} <= {*old.kinds, *new.kinds}:
        yield template.tells(
            "usual-kind",
            part="kind",
            used=template.used.having(lambda job: job.kind.name == old.kind),
            kind=_words(new.kind),
            former=_words(old.kind),
            uploaded=any("modelToUpload" in offer.request for offer in old.offers if offer.kind == old.kind),
        )


def _words(kind: str) -> str:
    return KINDS[kind].words if kind in KINDS else kind
