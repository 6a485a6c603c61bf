"""Effects of a changed value on jobs, where they depend on machines, images, past runs, kinds or secrets. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from slipway.authoring.stack.secrets import looks_secret
from slipway.base.formatting import few, join, last_part, span
from slipway.google.jobs import VertexJob
from slipway.model.capacity import SPOT
from slipway.model.catalog.model import Catalog, Offer
from slipway.model.catalog.placeholders import OUTPUT, names
from slipway.model.findings.finding import Grade
from slipway.reviewing.change.secret_values import bare, shown
from slipway.reviewing.change.usual import job_spec, secret_in
from slipway.reviewing.rules.resources.trainers import submitters_of
from slipway.reviewing.rules.templates.leaves import TRAINER, Leaf, Machines, trainer
from slipway.reviewing.rules.templates.offers import after_wait, of_kinds
from slipway.reviewing.rules.templates.usage import TemplateChange, facts

N, W, B = Grade.NOTE, Grade.WARNING, Grade.BLOCKING
_RESULTS = re.compile(r"output|checkpoint|ckpt", re.IGNORECASE)
_FOR_CPUS = re.compile(r"(?<![a-z])cpu(?![a-z])")
_LESS_IS_BETTER = re.compile(r"loss|err|rmse|mae|mse|perplexity", re.IGNORECASE)
_UNSEEN = "not known: whether it exists and their account may read it; else they fail"


class Says(NamedTuple):
    """A grade, what jobs do, how it ends for them, and what to do instead."""

    grade: Grade
    does: str
    so: str = ""
    instead: str = ""
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Differing:
    """A value before and after, None where there is none: `name` is the path's own, `of` its owner's. `offers` are
    those of the new template whose jobs it affects."""

    name: str
    of: str
    before: Leaf | None
    after: Leaf | None
    offers: tuple[Offer, ...]
    template: TemplateChange

    @property
    def on_spot(self) -> bool:
        return any(offer.capacity_type == SPOT for offer in self.offers)


def machines(differing: Differing) -> Says:
    old, new = differing.before, differing.after
    if not isinstance(old, Machines):
        return Says(W, f"take these machines besides: `{new}`", "they are paid as long as the whole job runs")
    if not isinstance(new, Machines):
        return Says(W, f"take no more: `{old}`", "not known: whether the other machines do the work of these")
    gpus = f"{new.gpus} instead of {old.gpus}"
    if (old.type, old.gpus) != (new.type, new.gpus):
        does = f"run on `{new.type}` instead of `{old.type}`" if new.type != old.type else f"run with {gpus}"
        if 0 < new.gpu_memory < old.gpu_memory:
            less = f"{new.gpu_memory} GB of GPU memory instead of {old.gpu_memory}, and what needs more fails"
            return Says(B, does, less, "keep the larger GPU where a run fills it, or lower what fills it")
        if old.gpu and not new.gpu:
            return Says(W, does, "without a GPU, code that needs one fails", f"keep {old.gpus}")
        return Says(W, does, gpus if new.type != old.type and new.gpus != old.gpus else "")
    if old.count != new.count:
        kind = new.type.partition(" ")[0]
        why = "not known: whether the code divides its work by their number"
        return Says(W, f"take {new.count} `{kind}` instead of {old.count}", why)
    if old.disk_type != new.disk_type:
        return Says(W, f"have disks of {new.disk} instead of {old.disk}", "results stay, the pace may differ")
    does = f"have disks of {new.disk_size} GB instead of {old.disk_size} GB"
    if old.disk_size.isdigit() and new.disk_size.isdigit() and int(new.disk_size) < int(old.disk_size):
        return Says(W, does, "what needs more room fails, and is lost", f"keep {old.disk_size} GB")
    return Says(N, does)


def image(differing: Differing) -> Says:
    if differing.after is None:
        does = f"run a package of this repository instead of image {_last(str(differing.before))}"
        return Says(W, does, "its launcher installs the requirements and starts the package's module")
    if differing.before is None:
        return Says(
            W,
            f"run image {_last(str(differing.after))} instead of a package of this repository",
            "nobody here sees what is in it; files in `$SLIPWAY_OUTPUT` are lost, as no launcher keeps them",
            "let the image write what it should keep to `${slipway.output}`",
        )
    before, after = str(differing.before), str(differing.after)
    (was, build), (becomes, other) = (_parts(side) for side in (before, after))
    if _FOR_CPUS.search(becomes) and not _FOR_CPUS.search(was) and any(map(_accelerated, differing.offers)):
        does = f"run in {_last(becomes)}, an image for CPUs, on machines with GPUs"
        return Says(B, does, "those are paid for and hardly used", "take the image of that version for GPUs")
    if was == becomes and build.startswith("sha256:") and other.startswith("sha256:"):
        does = f"run in another build of image {_last(becomes)}"
        return Says(N, does, "not known: what differs in it, so results may not compare with those of before")
    does = f"run in {_last(after)} instead of {_last(before)}"
    if not other or other == "latest":
        return Says(W, does, "that tag moves, so two runs may differ", "name a digest, or a tag that stays")
    return Says(W, does, "not known: what differs in it, so results may differ")


def _parts(name: str) -> tuple[str, str]:
    """Return an image's name, and its digest or tag."""
    start, at, digest = name.partition("@")
    folder, _, last = start.rpartition("/")
    base, _, tag = last.partition(":")
    return f"{folder}/{base}", digest if at else tag


def _last(name: str) -> str:
    """Return an image's last part, with the beginning of a digest."""
    start, at, digest = last_part(name).partition("@")
    return shown(f"{start}@{digest[:14]}…" if at else start)


def _accelerated(offer: Offer) -> bool:
    pools = job_spec(offer).get("workerPoolSpecs") or ()
    return any((pool.get("machineSpec") or {}).get("acceleratorType") for pool in pools)


def arguments(differing: Differing) -> Says:
    before, after = (leaf if isinstance(leaf, tuple) else () for leaf in (differing.before, differing.after))
    gone, new = [each for each in before if each not in after], [each for each in after if each not in before]
    kept = {name for each in after for name in names(each)}
    lost = [each for each in gone if any(_is_result(name) and name not in kept for name in names(each))]
    if lost:
        does = f"aren't told by {_flags(lost)} any more where results belong"
        why = "what they write to a machine's disk is lost with the machine"
        return Says(B, does, why, f"keep {join(map(shown, lost))}")
    if not gone and not new:
        return Says(W, "get their arguments in another order", "code that reads them by their place takes others")
    changed = {flag(each) for each in gone} & {flag(each) for each in new}
    former, latter = ([each for each in some if flag(each) in changed] for some in (gone, new))
    more, less = [each for each in new if each not in latter], [each for each in gone if each not in former]
    parts = [f"with {_values(latter)} instead of {_values(former)}"] if changed else []
    parts += [f"with {_values(more)}"] if more else []
    parts += [f"without {_flags(less)}"] if less else []
    why = "code that does not know that fails at its start" if more else ""
    why = "the code takes values of its own, or fails without them" if less else why
    return Says(W, f"are started {join(parts)}", why)


def _is_result(name: str) -> bool:
    return name == OUTPUT or bool(_RESULTS.search(name))


def command(differing: Differing) -> Says:
    sides = (differing.after, differing.before)
    after, before = (" ".join(leaf) if isinstance(leaf, tuple) else str(leaf or "") for leaf in sides)
    words = (shown(text) if text else "the image's own command" for text in (after, before))
    does = f"are started by {' instead of '.join(words)}"
    if "||" in after or ";" in after:
        return Says(W, does, "read how it ends: after `||` or `;` the failure of a part need not fail the job")
    return Says(W, does, "not known: what that does, and how it ends")


def module(differing: Differing) -> Says:
    after, before = (str(leaf or "none") for leaf in (differing.after, differing.before))
    with_code = after.partition(".")[0] != before.partition(".")[0]  # Reported with the code.
    return Says(N if with_code else W, f"start module {shown(after)} instead of {shown(before)}")


def flag(argument: str) -> str:
    return argument.partition("=")[0]


def _flags(arguments: Iterable[str]) -> str:
    return join(dict.fromkeys(shown(flag(argument)) for argument in arguments))


def argument(text: str, beside: str = "") -> str:
    """Return an argument as a comment may have it; a secret one by its name alone."""
    name, equals, value = text.partition("=")
    hides = equals and looks_secret(value, name.lstrip("-"))
    return f"{name}=… (hidden)" if hides else bare(text, beside=beside)


def _values(arguments: list[str]) -> str:
    """Return at most three of them."""
    return few((f"`{argument(text)}`" for text in arguments), most=3)


def secret(differing: Differing) -> Says:
    name, sides = differing.name, (differing.before, differing.after)
    old, new = (secret_in(str(leaf or "")) or str(leaf or "") for leaf in sides)
    place = [str(leaf).partition("/secrets/")[0] for leaf in sides]
    version = [last_part(str(leaf)) for leaf in sides]
    grant = f"let their account read {shown(new)} first"
    if not new:
        does = f"don't get secret {shown(old)} any more as `{name}`"
        if name in dict(_variables(differing.offers)):
            ends = f"`{name}` is set to a plain value, which the secret's next rotation makes void"
            return Says(B, does, ends, f"keep it, and let their account read {shown(old)}")
        return Says(B, does, "code that needs it fails", "keep it")
    if not old:
        return Says(B, f"read secret {shown(new)} as `{name}`", _UNSEEN, grant)
    if old != new:
        return Says(B, f"read secret {shown(new)} instead of {shown(old)}", _UNSEEN, grant)
    if place[0] != place[1]:
        return Says(B, f"read secret {shown(new)} of {shown(place[1])} instead of {shown(place[0])}", _UNSEEN, grant)
    does = f"read version {shown(version[1])} of secret {shown(new)} instead of {shown(version[0])}"
    fails = "not known: whether that version is enabled; they fail once it is not"
    return Says(W, does, fails, "name `latest`, or no version, to follow its rotation")


def account(differing: Differing) -> Says:
    sides = ((differing.before, differing.template.was), (differing.after, differing.template.becomes))
    old, new = (_address(leaf, catalog) for leaf, catalog in sides)
    if old == new:
        old, new = (shown(str(leaf).removesuffix(".iam.gserviceaccount.com")) for leaf, _ in sides)
    secrets = join(f"`{name}`" for name in dict.fromkeys(secrets_of(differing.offers)))
    does, refused = f"run as account {new} instead of {old}", _refused(differing)
    if secrets and differing.after == TRAINER:
        ends = f"they fail without secret {secrets}, and a grant on {secrets} opens that to all submitters' code"
        return Says(B, does, ends, f"keep {old}, an account of its own: don't let {new} read the secret", refused)
    becomes = str(differing.after)
    if becomes.startswith(trainer("")) and becomes not in map(trainer, differing.template.was.trainers):
        ends = f"it is new, and they fail until it may read secret {secrets}" if secrets else "it is new"
        keep = f"deploy the trainer first, let it read {secrets or 'what they need'}, and move the template then"
        return Says(B, does, ends, keep, refused)
    reads = f"read secret {secrets}" if secrets else "read and write what they need"
    ends = f"they fail unless that may {reads}, which is not known"
    return Says(B, does, ends, f"grant {new} the same before, or keep {old}", refused)


def _refused(differing: Differing) -> tuple[str, ...]:
    """Return the members who may not submit the template any more, and its use."""
    change = differing.template.change
    accounts = (
        _known(catalog).get(str(leaf), str(leaf))
        for leaf, catalog in ((differing.before, change.old), (differing.after, change.new))
    )
    before, after = map(submitters_of, (change.before, change.after), accounts)
    lost = [f"`{member}` may not submit it any more" for member in before if member not in after]
    return (*lost, differing.template.used.words()) if lost else ()


def _address(leaf: Leaf | None, catalog: Catalog) -> str:
    found = _known(catalog).get(str(leaf), str(leaf or "")).partition("@")[0]
    return shown(found) if found else "an account of Google's"


def _known(catalog: Catalog) -> Mapping[str, str]:
    """Return the addresses of the stack's accounts by their words."""
    return {TRAINER: catalog.trainer, **{trainer(name): account for name, account in catalog.trainers.items()}}


def secrets_of(offers: Iterable[Offer]) -> Iterator[str]:
    variables = _variables(offers)
    yield from (secret_in(value) or value for name, value in variables if name.endswith("__SECRET"))


def _variables(offers: Iterable[Offer]) -> Iterator[tuple[str, str]]:
    for offer in offers:
        for pool in job_spec(offer).get("workerPoolSpecs") or ():
            code = pool.get("containerSpec") or pool.get("pythonPackageSpec") or {}
            yield from ((str(each.get("name")), str(each.get("value"))) for each in code.get("env") or ())


def shell(differing: Differing) -> Says:
    """Say what a shell opens: the service asks for the right to act as the jobs' account."""
    accounts = dict.fromkeys(str(job_spec(offer).get("serviceAccount") or "") for offer in differing.offers)
    who = join(shown(account.partition("@")[0]) for account in accounts if account)
    secrets = join(f"`{name}`" for name in dict.fromkeys(secrets_of(differing.offers)))
    can = f"it reads secret {secrets}, and changes" if secrets else "it changes"
    return Says(
        B,
        f"open a shell to whoever may act as {who}" if who else "open a shell to whoever may see them",
        f"{can} results by hand, without a trace in the repository",
        "give that to a copy of the template, whose account may do little, and take it away again",
    )


def timeout(differing: Differing) -> Says:
    old, new = (float(str(leaf or "0s").removesuffix("s")) for leaf in (differing.before, differing.after))
    if not new:
        return Says(W, f"may run for ever instead of {span(old)}", "one that hangs is paid for until somebody ends it")
    if 0 < old < new:
        grade = W if new >= 2 * old else N
        return Says(grade, f"may run {span(new)} instead of {span(old)}", "one that hangs is paid for that long")
    ran = [time for job in differing.template.used.jobs if (time := _lasted(job, differing.template.change.now))]
    longer = sum(time.total_seconds() > new for time in ran)
    does = f"are ended after {span(new)}{f' instead of {span(old)}' if old else ''}"
    limit = span(old) if old else "it without a limit"
    keep = f"keep {limit}, or let the code save checkpoints"
    if differing.template.new.checkpoints:
        keep = f"keep {limit}: a job that was ended is not started again from its checkpoint"
    ends = "what is not saved by then is lost"
    if not ran:
        return Says(B, does, f"not known: how long they take, as none ran lately; {ends}", keep)
    took = f"{longer or 'none'} of the last {len(ran)} took longer"
    if len(ran) == 1:
        took = f"the last run took {'longer' if longer else 'no longer'}"
    return Says(B if longer else W, does, f"{took}; {ends}", keep)


def _lasted(job: VertexJob, now: datetime) -> timedelta | None:
    end = (job.end_time or job.update_time) if job.ended else now
    return end - job.start_time if job.start_time and end else None


def retries(differing: Differing) -> Says:
    """Say how a job ends that the service interrupts: it tries one on Spot up to six times more, others up to three."""
    if differing.after != "true":
        return Says(N, "are tried again after an error of the service", f"each {differing.template.again}")
    does = "aren't tried again after an error of the service"
    if differing.on_spot:
        ends = "a job whose Spot machine is taken away fails, and the next begins anew"
        return Says(B, does, ends, "keep retries, or leave Spot out of `capacity_types`")
    return Says(W, does, "the first such error ends a job, and what it has not saved is lost", "keep retries")


def restarts(differing: Differing) -> Says:
    if differing.after == "true":
        ends = f"with one that is lost, the whole job {differing.template.again}"
        return Says(W, "start again on all machines when one of them does", ends)
    ends = "the other machines wait for the lost one, paid until the timeout, unless the code copes"
    return Says(W, "don't start again on all machines when one of them does", ends)


def wait(differing: Differing) -> Says:
    after = of_kinds(differing.template)[1]
    before, now = (
        "as long as the service likes" if leaf is None else "for ever" if leaf == "0s" else _span(str(leaf))
        for leaf in (differing.before, differing.after)
    )
    ends = next((after_wait(offer, after) for offer in differing.offers if offer in after.values()), "")
    does = f"wait up to {now} for their machines instead of {before}"
    return Says(W, does, "" if now == "for ever" else ends)


def _span(text: str) -> str:
    seconds = text.removesuffix("s")
    return span(float(seconds)) if seconds.replace(".", "", 1).isdigit() else text


def variable(differing: Differing) -> Says:
    name = differing.name
    old, new = (None if leaf is None else shown(leaf, name) for leaf in (differing.before, differing.after))
    if new is None and any(map(_is_result, names(str(differing.before)))):
        does = f"run without environment variable `{name}`, which told them where results belong"
        return Says(B, does, "what they write to a machine's disk is lost with the machine", "keep it")
    if new is None:
        does = f"run without environment variable `{name}`, which was {old}"
        return Says(W, does, "code that reads it takes a value of its own, or fails")
    return Says(W, f"run with `{name}` = {new}{f' instead of {old}' if old else ''}")


def goal(differing: Differing) -> Says:
    """Say what trials are judged by. A trial whose code does not report the metric has no result."""
    old, new, of = differing.before, differing.after, differing.of or "that metric"
    if old and new and not differing.of:
        return _metric(differing, f"look for {_best(str(new))} instead of {_best(str(old))}", str(new))
    if not old:
        return _metric(differing, f"judge trials by `{of}` too", f"{of} {str(new).rpartition(' ')[2]}")
    if not new:
        return Says(B, f"don't judge trials by `{of}` any more", "another trial may be the best one")
    does = f"look for {_best(f'{of} {new}')} instead of {_best(f'{of} {old}')}"
    return Says(
        B, does, "trials are judged the other way round, and the worst one counts as the best", "keep the old goal"
    )


def _best(metric: str) -> str:
    """Return ``the largest `accuracy` `` for `accuracy MAXIMIZE`."""
    name, _, aim = metric.partition(" ")
    return f"{'the smallest' if aim == 'MINIMIZE' else 'the largest'} `{name}`"


def _metric(differing: Differing, does: str, goal: str) -> Says:
    metric, _, aim = goal.partition(" ")
    turned = aim != "MINIMIZE" and _LESS_IS_BETTER.search(metric)
    worst = f"where less `{metric}` is better, the worst trial counts as the best" if turned else ""
    reports = differing.template.reports
    grade = B if reports and not any(metric in line for line in reports) else W
    ends = f"a trial whose code does not report `{metric}` is paid and has no result"
    minimize = f'write `Metric("{metric}", "minimize")`' if turned else ""
    read = f"read that the code reports `{metric}`, on each way out"
    return Says(grade, does, facts(worst, ends), facts(minimize, read), reports)
