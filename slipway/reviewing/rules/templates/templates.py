"""Templates before and after, as submitters by name meet them."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.base.formatting import join
from slipway.google.catalog.lookup import usual_offers
from slipway.model.catalog.model import Catalog, Offer, Template
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.kinds import KINDS as JOB_KINDS
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.usual import job_spec
from slipway.reviewing.rules.templates.code import code, secret_requirements
from slipway.reviewing.rules.templates.effects import secrets_of
from slipway.reviewing.rules.templates.offers import no_offer_left, offers, secrets
from slipway.reviewing.rules.templates.parameters import parameters, plain_defaults
from slipway.reviewing.rules.templates.requests import requests
from slipway.reviewing.rules.templates.usage import Usage, finding, usage


def templates(change: Change) -> Iterator[Finding]:
    new, old = change.new, change.old
    if new is None:
        return
    before = old.templates if old else {}
    for name, template in before.items():
        if name not in new.templates:
            words = f"Submissions of `{name}` are refused"
            why = "it is not published any more; its running jobs go on"
            yield finding(
                "template-gone", template, words, "", why, used=usage(change, name), field="slipway:templates"
            )
    for name, template in new.templates.items():
        used, was = usage(change, name), before.get(name)
        if was is None:
            can = any(one.available for one in usual_offers(template))
            words = f"Submitters may run `{name}`" if can else f"Submitters see `{name}`"
            brings = join(_brings(template, new)) if not change.first else ""
            grade = Grade.BLOCKING if brings else None
            yield finding("template-added", template, words, "", brings, grade=grade, field="slipway:templates")
        elif old is not None:
            yield from _changed(change, old, new, was, template, used)
        yield from no_offer_left(was, template, new, used)
        yield from secrets(was, template, old, new)
        yield from plain_defaults(was, template)
        yield from secret_requirements(was, template)
    if old and before and old.trainer != new.trainer:
        yield KINDS["account-changed"].of(
            Subject("trainer"),
            f"Jobs of every template without an account of its own run as `{new.trainer}` instead of `{old.trainer}`",
            clause=f"Jobs run as `{new.trainer.partition('@')[0]}` instead of `{old.trainer.partition('@')[0]}`",
            more=": nobody looked whether that may read and write what the old one could",
            field="slipway:workspace.trainer",
        )


def _brings(template: Template, catalog: Catalog) -> Iterator[str]:
    """Yield what a new template opens that no other does: an account, a secret, a shell."""
    others = [one for one in catalog.templates.values() if one.name != template.name]
    specs = [job_spec(one) for one in template.offers]
    known = {
        catalog.trainer,
        *catalog.trainers.values(),
        "",
        *(_account(one) for each in others for one in each.offers),
    }
    for account in sorted({_account(one) for one in template.offers} - known):
        yield f"as `{account}`, whose rights nobody looked at"
    read = {secret for each in others for secret in secrets_of(each.offers)}
    for secret in sorted({*secrets_of(template.offers)} - read):
        yield f"reading secret `{secret}`, which no other template does"
    if any(one.get("enableWebAccess") for one in specs):
        yield "with a shell in the browser"


def _account(offer: Offer) -> str:
    return str(job_spec(offer).get("serviceAccount", ""))


def _changed(
    change: Change, was: Catalog, becomes: Catalog, old: Template, new: Template, used: Usage
) -> Iterator[Finding]:
    yield from parameters(old, new, used)
    yield from _kinds(old, new, used)
    yield from offers(old, new, was, becomes, used)
    yield from requests(change, was, becomes, old, new, used)
    yield from code(change, old, new)
    # otherwise it is reported for the stack
    if change.before and change.after and change.before.code == change.after.code:
        if new.code_flag and not old.code_flag:
            words = f"Submissions of `{new.name}` may bring code that nobody reviewed (`--code`)"
            yield finding("code-allowed", new, words, grade=Grade.BLOCKING, field="code_flag")
        elif old.code_flag and not new.code_flag:
            grade, words = KINDS["code-forbidden"].usual, f"Submissions of `{new.name}` with `--code` are refused"
            yield finding("code-forbidden", new, words, used=used, grade=grade, field="code_flag")
    if old.checkpoints != new.checkpoints:
        does, grade = ("go on", Grade.NOTE) if new.checkpoints else ("don't go on", Grade.WARNING)
        words = f"Jobs of `{new.name}` {does} from a checkpoint when they are started again"
        why = "" if new.checkpoints else "all work is lost with a machine that is taken away"
        yield finding("request-changed", new, words, "checkpoints", why, grade=grade, field="checkpoints")


def _kinds(old: Template, new: Template, used: Usage) -> Iterator[Finding]:
    for kind in old.kinds:
        if kind not in new.kinds:
            lost = used.having(lambda job, kind=kind: job.kind.name == kind)  # type: ignore[misc]
            words = f"Submissions of `{new.name}` as a {_words(kind)} are refused"
            yield finding(
                "kind-gone",
                new,
                words,
                f"kind {kind}",
                f"`--as {kind}` is not offered any more",
                used=lost,
                field="kinds",
            )
    for kind in new.kinds:
        if kind not in old.kinds:
            words = f"Submitters may run `{new.name}` as a {_words(kind)} too"
            yield finding("kind-added", new, words, f"kind {kind}", field="kinds")
    if new.kind != old.kind and {old.kind, new.kind} <= {*old.kinds, *new.kinds}:
        words = (
            f"Submissions of `{new.name}` without `--as` run as a {_words(new.kind)} instead of a {_words(old.kind)}"
        )
        yield finding("request-changed", new, words, "kind", grade=Grade.WARNING, field="kinds")


def _words(kind: str) -> str:
    return JOB_KINDS[kind].words if kind in JOB_KINDS else kind
