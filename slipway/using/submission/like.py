"""A submission like an existing job's: its template, code and parameters, as far as they still exist."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from slipway.authoring.packages.packing import modules
from slipway.base.errors import ConfigError, Fix, PolicyError, ResourceError
from slipway.base.formatting import join, last_part, short
from slipway.google.catalog.lookup import find_template
from slipway.google.failures import NotFound
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.placeholders import render
from slipway.model.catalog.template import Template
from slipway.model.identity import words_of
from slipway.model.kinds import PIPELINE_JOB
from slipway.model.labels import (
    CODE_COMMIT_LABEL,
    CODE_DIRTY_LABEL,
    CODE_LABEL,
    STACK_LABEL,
    SWEEP_LABEL,
    Revision,
    label_value,
)
from slipway.model.own_settings import OwnSettings
from slipway.using.context import Context
from slipway.using.submission.parameters import unnamed
from slipway.using.submission.prepared import prepare
from slipway.using.submission.request import RequestOverrides
from slipway.using.submission.same_request import Compared, compared, differing, lasting_settings
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.submitter import place_of

_SHOWN = 200
_LATE = timedelta(seconds=5)
"""The largest difference between the clocks of two services."""
_REPORTED = frozenset({"kind", "template", "code", "parameters"})
"""The properties whose differences have messages of their own."""


@dataclass(frozen=True)
class Likeness:
    """A submission like a job's."""

    #: Has the arguments given in addition on top.
    asked: SubmissionRequest
    #: The gs:// URI of the package that must still exist, empty for the template's present one.
    code: str
    #: Lines that tell what it takes over.
    notes: tuple[str, ...]
    #: Lines that tell what can't be the same any more.
    differences: tuple[str, ...]
    #: The job's parameters that a sweep gives in their place.
    swept: Mapping[str, str]


def request_like(
    context: Context, job: VertexJob, given: SubmissionRequest, *, own_code: bool, swept: Collection[str] = ()
) -> Likeness:
    """Decide as `like` does, and make sure that the code exists and is the job's. Raises the errors of `like`,
    ResourceError for missing code, PolicyError for code that was replaced, and CloudError."""
    likeness = like(context.catalog, job, given, own_code=own_code, swept=swept, team=context.team)
    if not likeness.code:
        return likeness
    template = likeness.asked.template
    fix = f"slipway submit {template}, with its own code or a folder's (--code); slipway jobs show {job.typed}"
    require_code(context, likeness.code, job, fix)
    return likeness


def require_code(context: Context, package: str, job: VertexJob, fix: Fix) -> None:
    """Raise ResourceError where a job's code is gone, and PolicyError where it was replaced; and CloudError."""
    try:
        age = context.connection.storage.age(Location.parse(package))
    except NotFound:
        why = f"{package} is not there any more: packages that no job needs are deleted after a while"
        raise ResourceError(f"the code of {job.typed} is gone", why=why, fix=fix) from None
    now = context.connection.session.time or context.now
    submitted = job.create_time
    if (
        age is not None
        and submitted is not None
        and now - age > submitted + _LATE
        and _is_own(context.catalog, package)
    ):
        # Jobs may write into that bucket. Published code is the deployer's alone.
        why = f"{package} was written after {job.typed} was submitted"
        raise PolicyError(f"the code of {job.typed} is not what it had", why=why, fix=fix)


def like(
    catalog: Catalog,
    job: VertexJob,
    given: SubmissionRequest,
    *,
    own_code: bool,
    swept: Collection[str] = (),
    team: str = "",
) -> Likeness:
    """Decide what submits a job's like. Pure.

    `given` names no template; its other arguments hold in place of the job's. `own_code`: a folder replaces its code.
    `swept` are parameters that the points of a sweep give; `team`: as SLIPWAY_TEAM names it.

    Raises ConfigError for a job of another stack, of no template or of a deleted one, and where the job does not record
    its parameters; PolicyError for code that may not be submitted.
    """
    template = _template(catalog, job)
    recorded, gone = _recorded(template, job)
    kind, kinds = _kind(template, job, given)
    overrides, package = _overrides(catalog, template, job, given.overrides, own_code=own_code)
    params = {**recorded, **given.params}
    dropped = unnamed(template, params) - {*given.params}  # Another command may no longer name them.
    asked = replace(
        given,
        template=template.name,
        params={name: value for name, value in params.items() if name not in swept and name not in dropped},
        kind=kind,
        overrides=overrides,
    )
    same = replace(asked, params=recorded, capacity_type=None, pool="", waits={}, then=(), race=None)
    if own_code and job.packages:  # A folder comes in its place.
        same = replace(same, overrides=replace(overrides, package=min(job.packages)))
    differences = [*kinds, *gone]
    if not kinds:
        differences += _changes(catalog, job, same, team)
    if not (swept or given.capacity_type or given.pool or given.waits or given.then or given.race is not None):
        asked = replace(asked, then=_preferred(catalog, asked, job, team))
    on_top = [
        f"{name}={short(render(value))} (was {short(recorded[name]) if name in recorded else 'the default'})"
        for name, value in given.params.items()
        if value != recorded.get(name)
    ]
    notes = tuple(_notes(job, template, package, on_top))
    replaced = {name: value for name, value in recorded.items() if name in swept}
    return Likeness(asked=asked, code=package, notes=notes, differences=tuple(differences), swept=replaced)


def _template(catalog: Catalog, job: VertexJob) -> Template:
    if not job.template:
        raise ConfigError(
            f"nothing can be submitted like {job.typed}",
            why="it was submitted from no template, so nothing tells its parameters",
            fix=f"slipway jobs show {job.typed}",
        )
    if (stack := job.labels.get(STACK_LABEL, "")) != catalog.identity.label:
        raise ConfigError(
            f"{job.typed} is a job of {short(words_of(stack)) if stack else 'no stack'}, and the catalog is that of "
            f"{catalog.identity.words}",
            why="templates and code are published by each stack",
            fix=("choose the catalog of that stack: ", {"catalog": "gs://BUCKET"}),
        )
    name = next((name for name in catalog.templates if label_value(name) == job.template), job.template)
    return find_template(catalog, name)


def _recorded(template: Template, job: VertexJob) -> tuple[dict[str, str], list[str]]:
    """Return the job's parameters as typed, without defaults, and notes on those that the template no longer has."""
    known = {parameter.name: parameter for parameter in template.parameters}
    values = job.parameters
    if values is None:
        if not known:
            return {}, []
        raise ConfigError(
            f"nothing can be submitted like {job.typed}",
            why="it does not record its parameters",
            fix=f"slipway submit {template.name} -p …     slipway jobs show {job.typed} has its arguments",
        )
    kept = {
        name: render(value)
        for name, value in values.items()
        if name in known and (type(value), value) != (type(known[name].default), known[name].default)
    }
    plain = {name: render(value) for name, value in values.items()}
    lost = unnamed(template, plain)
    kept |= {name: text for name, text in plain.items() if name not in known and name not in lost}
    gone = [f"{short(name)}={short(text)} then" for name, text in plain.items() if name in lost]
    return kept, [f"{template.name} has no more {join(gone)}"] if gone else []


def _kind(template: Template, job: VertexJob, given: SubmissionRequest) -> tuple[str | None, list[str]]:
    """Return the kind to name, and notes where it is not the job's."""
    kind = given.kind or (job.kind.name if job.kind.name in template.kinds else template.kinds[0])
    notes = [] if kind == job.kind.name else [f"kind: {job.kind.name} then, {kind} now"]
    return (given.kind if kind == template.kinds[0] else kind), notes


def _overrides(
    catalog: Catalog, template: Template, job: VertexJob, given: RequestOverrides, *, own_code: bool
) -> tuple[RequestOverrides, str]:
    """Return the overrides with the job's code, where the template's has changed, and its experiment; and the package's
    URI, empty for the template's present one."""
    experiment = given.experiment or _experiment(template, job)
    then, now = lasting_settings(job), given.settings
    settings = OwnSettings(
        env={name: value for name, value in {**then.env, **now.env}.items() if name not in now.secrets},
        secrets={name: value for name, value in {**then.secrets, **now.secrets}.items() if name not in now.env},
        max_run=then.max_run if now.max_run is None else now.max_run,
        retries=then.retries if now.retries is None else now.retries,
        replicas=then.replicas if now.replicas is None else now.replicas,
        retry_on=then.retry_on if now.retries is None else now.retry_on,
    )
    overrides = replace(given, experiment=experiment, settings=settings)
    packages = sorted(job.packages)
    if own_code or packages in ([], [template.package]) or not (template.package or CODE_LABEL in job.labels):
        return overrides, ""
    uri = packages[0]
    own = CODE_LABEL in job.labels
    reviewed = f"{template.package.rpartition('/')[0]}/"
    if len(packages) > 1 or not (uri.startswith(reviewed) or _is_own(catalog, uri)):
        raise PolicyError(
            f"the code of {job.typed} can't be submitted again",
            why=f"{short(join(packages), _SHOWN)} was put there by no deployment, and by no submission with code of "
            "its own",
            fix=f"slipway submit {template.name}, with the code that was reviewed",
        )
    if not uri.startswith(reviewed):
        modules(template)
    revision = job.code if own else job.revision
    name = last_part(uri).removesuffix(".tar.gz")
    labels = {
        CODE_LABEL: job.labels[CODE_LABEL] if own else label_value(name.rpartition("-")[2]),
        CODE_COMMIT_LABEL: revision.commit,
        CODE_DIRTY_LABEL: "" if revision.dirty is None else str(revision.dirty).lower(),
    }
    labels = {**given.labels, **{key: value for key, value in labels.items() if value}}
    return replace(overrides, package=uri, code=f"package {uri}", labels=labels), uri


def _is_own(catalog: Catalog, uri: str) -> bool:
    return uri.startswith(f"gs://{catalog.work_bucket}/code/")


def _experiment(template: Template, job: VertexJob) -> str:
    """Return the name of the job's experiment where it is not the template's own."""
    own = {offer.spec.get("experiment", "") for offer in template.offers}
    if not job.experiment or "" in own or job.experiment in own:
        return ""
    return last_part(job.experiment)


def _changes(catalog: Catalog, job: VertexJob, same: SubmissionRequest, team: str) -> list[str]:
    """Return the differences between the job and the same submission now, compared under the job's own request id."""
    overrides = replace(same.overrides, sweep=job.labels.get(SWEEP_LABEL, ""), experiment_run=_run(job))
    try:
        prepared = prepare(catalog, replace(same, overrides=overrides), "", team).under(job.request_id)
    except ConfigError as problem:  # The given arguments may correct it.
        return [problem.why or problem.what]
    candidate = prepared.candidates[place_of(prepared, job)]
    if candidate.offer.capacity_type != job.capacity_type:
        types = join(dict.fromkeys(offer.capacity_type for offer, _ in prepared.offers))
        then = compared(job)["machines"]
        every = [compared(each.request.job)["machines"] for each in prepared.candidates]
        machines = differing({"machines": then}, {"machines": then if then in every else every[0]})
        return [f"capacity type: {job.capacity_type} then, {types} now", *machines]
    return differing(_compared(job), _compared(candidate.request.job))


def _run(job: VertexJob) -> str:
    experiment, run = (last_part(name) for name in (job.experiment, job.experiment_run))
    name = run.removeprefix(f"{experiment}-")
    return "" if name == job.display_name else name


def _compared(job: VertexJob) -> dict[str, Compared]:
    """Return the properties that make a job another one, without those that are decided and told separately."""
    used = [pool for pool in job.worker_pools if pool.replicas and job.kind is not PIPELINE_JOB]
    images = join(dict.fromkeys(pool.image for pool in used))
    properties = {**compared(job), "image": images, "account": job.service_account}
    return {name: value for name, value in properties.items() if name not in _REPORTED}


def _preferred(catalog: Catalog, asked: SubmissionRequest, job: VertexJob, team: str) -> tuple[str, ...]:
    """Return the job's capacity type and after it the template's others; empty where it is first, or gone."""
    try:
        offers = prepare(catalog, asked, "", team).offers
    except ConfigError:
        return ()  # The preparation of the submission itself tells it.
    types = list(dict.fromkeys(offer.capacity_type for offer, _ in offers))
    if job.capacity_type not in types or types[0] == job.capacity_type:
        return ()
    return (job.capacity_type, *(type_ for type_ in types if type_ != job.capacity_type))


def _notes(job: VertexJob, template: Template, package: str, on_top: list[str]) -> Iterator[str]:
    who = f" ({job.user})" if job.user else ""
    yield f"like {job.typed}{who}: {template.name}, {f'with {join(on_top)}' if on_top else 'with the same parameters'}"
    if package:
        revision: Revision = job.code if CODE_LABEL in job.labels else job.revision
        at = f" @ {revision.short}" if revision.commit else ""
        yield f"  its code{at}: {package}"
    if settings := lasting_settings(job):
        yield f"  its settings: {settings}"
