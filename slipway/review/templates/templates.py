"""Templates before and after, as those meet them who submit by name."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.catalog.lookup import usual_offers
from slipway.catalog.model import Catalog, Template
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import join
from slipway.kinds import KINDS as JOB_KINDS
from slipway.review.change import Change
from slipway.review.templates.offers import no_offer_left, offers, requests, secrets
from slipway.review.templates.parameters import parameters, plain_defaults
from slipway.review.templates.secret_values import HIDDEN, looks_secret, shown
from slipway.review.templates.usage import Usage, finding, usage
from slipway.review.usual import job_spec


def templates(change: Change) -> Iterator[Finding]:
    new, old = change.new, change.old
    if new is None:
        return
    before = old.templates if old else {}
    for name, template in before.items():
        if name not in new.templates:
            words = " can't be submitted any more"
            yield finding("template-gone", template, words, used=usage(change, name), field="slipway:templates")
    for name, template in new.templates.items():
        used, was = usage(change, name), before.get(name)
        if was is None:
            can = any(one.available for one in usual_offers(template))
            words = " can be submitted" if can else " is published"
            yield finding("template-added", template, words, field="slipway:templates")
        elif old is not None:
            yield from _changed(change, old, new, was, template, used)
        yield from no_offer_left(was, template, new, used)
        yield from secrets(was, template, old, new)
        yield from plain_defaults(was, template)
        yield from _secret_requirements(was, template)
    if old and before and old.trainer != new.trainer:
        yield KINDS["account-changed"].of(
            Subject("trainer"),
            f"every template without an account of its own runs as `{new.trainer}`, it was `{old.trainer}`",
            field="slipway:workspace.trainer",
        )


def _changed(
    change: Change, was: Catalog, becomes: Catalog, old: Template, new: Template, used: Usage
) -> Iterator[Finding]:
    yield from parameters(old, new, used)
    yield from _kinds(old, new, used)
    yield from offers(old, new, was, becomes, used)
    yield from requests(old, new, was, becomes)
    yield from _code(change, old, new)
    yield from _installed(old, new)
    if change.before and change.after and change.before.code == change.after.code:  # else it is told of the stack
        if new.code_flag and not old.code_flag:
            yield finding(
                "code-allowed", new, " may be submitted with code that nobody reviewed (`--code`)", field="code_flag"
            )
        elif old.code_flag and not new.code_flag:
            grade, words = KINDS["code-forbidden"].usual, " can't be submitted with `--code` any more"
            yield finding("code-forbidden", new, words, used=used, grade=grade, field="code_flag")
    if old.checkpoints != new.checkpoints:
        words = f" {'says' if new.checkpoints else 'does not say any more'} that it goes on from checkpoints"
        grade = Grade.NOTE if new.checkpoints else Grade.WARNING
        yield finding("request-changed", new, words, "checkpoints", grade=grade, field="checkpoints")


def _kinds(old: Template, new: Template, used: Usage) -> Iterator[Finding]:
    for kind in old.kinds:
        if kind not in new.kinds:
            lost = used.having(lambda job, kind=kind: job.kind.name == kind)  # type: ignore[misc]
            words = f" can't be submitted as a {_words(kind)} any more"
            yield finding("kind-gone", new, words, f"kind {kind}", used=lost, field="kinds")
    for kind in new.kinds:
        if kind not in old.kinds:
            words = f" can be submitted as a {_words(kind)} too"
            yield finding("kind-added", new, words, f"kind {kind}", field="kinds")
    if new.kind != old.kind and {old.kind, new.kind} <= {*old.kinds, *new.kinds}:
        words = f" runs as a {_words(new.kind)} unless `--as` says otherwise, it was a {_words(old.kind)}"
        yield finding("request-changed", new, words, "kind", grade=Grade.WARNING, field="kinds")


def _words(kind: str) -> str:
    return JOB_KINDS[kind].words if kind in JOB_KINDS else kind


def _code(change: Change, old: Template, new: Template) -> Iterator[Finding]:
    bucket = change.new.catalog_bucket if change.new else ""
    if new.package not in ("", old.package) and not new.package.startswith(f"gs://{bucket}/"):
        words = f": new jobs run code that is not in the catalog's bucket, `{new.package}`"
        yield finding("code-changed", new, words, "code", grade=Grade.BLOCKING, field="code")
    # Its name tells what is in it, whatever catalog's bucket it is in.
    elif old.package and new.package and _short(old.package) != _short(new.package):
        files = sorted(
            file for file in change.files.touched for root in _roots(new) if file.startswith(f"jobs/{root}/")
        )
        words = f": new jobs run other code, `{_short(old.package)}` → `{_short(new.package)}`"
        yield finding("code-changed", new, words, "code", details=(f"`{file}`" for file in files), field="code")


def _roots(template: Template) -> set[str]:
    found = set()
    for offer in template.offers:
        for pool in job_spec(offer).get("workerPoolSpecs") or ():
            arguments = (pool.get("pythonPackageSpec") or {}).get("args") or []
            if "--module" in arguments[:-1]:
                found.add(str(arguments[arguments.index("--module") + 1]).partition(".")[0])
    return found


def _short(uri: str) -> str:
    return uri.rpartition("/")[2].removesuffix(".tar.gz")


def _requirement(one: str) -> str:
    if looks_secret(one):
        return f"`{one.partition(' @ ')[0]} @ …` (hidden)" if " @ " in one else HIDDEN
    return shown(one, longest=100)


def _secret_requirements(old: Template | None, new: Template) -> Iterator[Finding]:
    for one in new.requirements:
        if looks_secret(one) and not (old and one in old.requirements):
            words = f": the requirement {_requirement(one)} has what looks like a secret in plain text"
            yield finding("plain-secret", new, words, "requirements", field="requirements.txt")


def _installed(old: Template, new: Template) -> Iterator[Finding]:
    gone = [one for one in old.requirements if one not in new.requirements]
    added = [one for one in new.requirements if one not in old.requirements]
    if gone or added:
        before, after = (join(map(_requirement, some)) or "none" for some in (gone, added))
        words = f": jobs install {before} → {after}"
        yield finding("requirements-changed", new, words, "requirements", field="requirements.txt")
