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
from slipway.review.templates.usage import Usage, usage
from slipway.review.usual import job_spec

_MOST_FILES = 8


def templates(change: Change) -> Iterator[Finding]:
    new, old = change.new, change.old
    if new is None:
        return
    before = old.templates if old else {}
    for name, template in before.items():
        if name not in new.templates:
            yield _gone(template, usage(change, name))
    for name, template in new.templates.items():
        used, was = usage(change, name), before.get(name)
        if was is None:
            can = any(one.available for one in usual_offers(template))
            words = f"`{name}` {'can be submitted' if can else 'is published'}"
            yield KINDS["template-added"].of(Subject("template", name), words, field="slipway:templates")
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


def _gone(template: Template, used: Usage) -> Finding:
    row = KINDS["template-gone"]
    return row.of(
        Subject("template", template.name),
        f"`{template.name}` can't be submitted any more",
        details=[used.words()],
        grade=used.grade(row.usual),
        field="slipway:templates",
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
        yield from _code_flag(old, new, used)
    yield from _checkpoints(old, new)


def _kinds(old: Template, new: Template, used: Usage) -> Iterator[Finding]:
    for kind in old.kinds:
        if kind not in new.kinds:
            lost, row = used.having(lambda job, kind=kind: job.kind.name == kind), KINDS["kind-gone"]  # type: ignore[misc]
            sentence = f"`{new.name}` can't be submitted as a {_words(kind)} any more"
            subject = Subject("template", new.name, f"kind {kind}")
            yield row.of(subject, sentence, details=[lost.words()], grade=lost.grade(row.usual), field="kinds")
    for kind in new.kinds:
        if kind not in old.kinds:
            sentence = f"`{new.name}` can be submitted as a {_words(kind)} too"
            yield KINDS["kind-added"].of(Subject("template", new.name, f"kind {kind}"), sentence, field="kinds")
    if new.kind != old.kind and {old.kind, new.kind} <= {*old.kinds, *new.kinds}:
        sentence = (
            f"`{new.name}` runs as a {_words(new.kind)} unless `--as` says otherwise, it was a {_words(old.kind)}"
        )
        yield KINDS["request-changed"].of(
            Subject("template", new.name, "kind"), sentence, grade=Grade.WARNING, field="kinds"
        )


def _words(kind: str) -> str:
    return JOB_KINDS[kind].words if kind in JOB_KINDS else kind


def _code(change: Change, old: Template, new: Template) -> Iterator[Finding]:
    bucket = change.new.catalog_bucket if change.new else ""
    if new.package not in ("", old.package) and not new.package.startswith(f"gs://{bucket}/"):
        words = f"`{new.name}`: new jobs run code that is not in the catalog's bucket, `{new.package}`"
        yield KINDS["code-changed"].of(Subject("template", new.name, "code"), words, grade=Grade.BLOCKING, field="code")
        return
    # Its name tells what is in it, whatever catalog's bucket it is in.
    if not old.package or not new.package or _short(old.package) == _short(new.package):
        return
    files = sorted(file for file in change.files or () for root in _roots(new) if file.startswith(f"jobs/{root}/"))
    more = len(files) - _MOST_FILES
    yield KINDS["code-changed"].of(
        Subject("template", new.name, "code"),
        f"`{new.name}`: new jobs run other code, `{_short(old.package)}` → `{_short(new.package)}`",
        details=[*(f"`{file}`" for file in files[:_MOST_FILES]), *([f"{more} files more"] if more > 0 else [])],
        field="code",
    )


def _roots(template: Template) -> set[str]:
    """The import packages that its jobs run: the word after `--module` of the launcher's arguments."""
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
    """Of an address with a token in it the package's name alone."""
    if looks_secret(one):
        return f"`{one.partition(' @ ')[0]} @ …` (hidden)" if " @ " in one else HIDDEN
    return shown(one, longest=100)


def _secret_requirements(old: Template | None, new: Template) -> Iterator[Finding]:
    for one in new.requirements:
        if looks_secret(one) and not (old and one in old.requirements):
            words = f"`{new.name}`: the requirement {_requirement(one)} has what looks like a secret in plain text"
            yield KINDS["plain-secret"].of(
                Subject("template", new.name, "requirements"), words, field="requirements.txt"
            )


def _installed(old: Template, new: Template) -> Iterator[Finding]:
    gone = [one for one in old.requirements if one not in new.requirements]
    added = [one for one in new.requirements if one not in old.requirements]
    if gone or added:
        before, after = (join(map(_requirement, some)) or "none" for some in (gone, added))
        sentence = f"`{new.name}`: jobs install {before} → {after}"
        yield KINDS["requirements-changed"].of(
            Subject("template", new.name, "requirements"), sentence, field="requirements.txt"
        )


def _code_flag(old: Template, new: Template, used: Usage) -> Iterator[Finding]:
    subject, name = Subject("template", new.name), f"`{new.name}`"
    if new.code_flag and not old.code_flag:
        sentence = f"{name} may be submitted with code that nobody reviewed (`--code`)"
        yield KINDS["code-allowed"].of(subject, sentence, field="code_flag")
    elif old.code_flag and not new.code_flag:
        sentence = f"{name} can't be submitted with `--code` any more"
        yield KINDS["code-forbidden"].of(subject, sentence, details=[used.words()], field="code_flag")


def _checkpoints(old: Template, new: Template) -> Iterator[Finding]:
    if old.checkpoints != new.checkpoints:
        says = "says" if new.checkpoints else "does not say any more"
        sentence = f"`{new.name}` {says} that it goes on from checkpoints"
        grade = Grade.NOTE if new.checkpoints else Grade.WARNING
        yield KINDS["request-changed"].of(
            Subject("template", new.name, "checkpoints"), sentence, grade=grade, field="checkpoints"
        )
