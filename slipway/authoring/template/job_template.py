"""The template that a file is written with. It checks itself: an existing one is well-formed.

Errors are `ConfigError`s that name the template and the field. `slipway.authoring.template.proof` checks whether it
fits a pool, `slipway.model.rules` what Vertex AI allows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from slipway.authoring.template.declaration import Declaration, Shape, Variant, file_of
from slipway.authoring.template.types import mistyped
from slipway.authoring.template.worker_pool import Code, Image, WorkerPool, places
from slipway.base.errors import ConfigError
from slipway.base.formatting import join, nearest
from slipway.model.capacity import CAPACITY_TYPES, ON_DEMAND, PAID_ANYWAY, POOL
from slipway.model.catalog import command_line
from slipway.model.catalog.forms import PARAMETER_NAME
from slipway.model.catalog.placeholders import BUILT_IN, KIND, names, unescaped, whole
from slipway.model.cluster import SERVICE_ACCOUNT
from slipway.model.kinds import KINDS, PIPELINE_JOB
from slipway.model.labels import INPUT, INPUT_ADDRESS, RECORDS, RESERVED, SHAPE_VARIABLES, excess
from slipway.model.machines.table import MachineError, regions
from slipway.model.rules.code import ENV_NAME, MOST_ENV
from slipway.model.rules.job import label_problems
from slipway.model.rules.rule import twice
from slipway.model.rules.workers import MOST_POOLS, POSITIONS
from slipway.model.secret import SECRET

MAX_TIMEOUT_S = 7 * 24 * 3600
MOST_LABELS = 32
"""Half of a job's possible labels: Slipway adds its own."""
NAME = re.compile(r"[a-z]([a-z0-9-]{0,48}[a-z0-9])?")
"""The form of a template's name, which begins display names and object names, and is a label's value."""
_TRAINER = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")


@dataclass(frozen=True)
class JobTemplate(Declaration):
    """A reviewed job that people submit by name.

    `${name}` in args, env, replicas, the study's counts and the model's names stands for a parameter.

    - `kinds`: as what it may be submitted; the first one unless `--as` says another. "hyperparameter-tuning-job" needs
      a `study`; "training-pipeline" uploads `model`, if there is one. Arguments `--NAME=…` that the study searches are
      left to the service in a tuning job.
    - `pipeline`: for the kind "pipeline", the file of a compiled Kubeflow pipeline, from the repository's root. Its
      tasks say images, commands and machines, and its parameters are the template's, with their types and defaults; one
      that `parameters` declares as well has that declaration's bounds, choices and help.
    - `capacity_types`: in order of preference. `waits`: by capacity type, the seconds after which a submission falls
      back to the next one.
    - `variants`: other machines and capacity types for some values of parameters.
    - `shapes`: other machines of the same job, in order of preference after `worker_pools`. A submission tries all
      capacity types of one before the next. The code finds in SLIPWAY_SHAPE which it has, and in SLIPWAY_REPLICAS,
      SLIPWAY_GPUS (of a machine) and SLIPWAY_GPU_MEMORY_GB (of a GPU) what that is.
    - `regions`: where it may have machines of its own after the stack's own region, in order: all capacity types of one
      before the next. The stack file lists them under `slipway:regions`.
    - `timeout_s`, in seconds, ends the job. `idle` ends it where nobody uses its GPUs.
    - `secrets`: by environment variable, a secret of Secret Manager: its name, or projects/…/secrets/…/versions/…. The
      job gets the reference as `NAME__SECRET` and reads the value with its own identity; the launcher does that
      for it and sets NAME.
    - `inputs`: by name, files that the launcher copies to each machine's disk before the code starts: `gs://BUCKET/PREFIX`,
      `hf://ORG/NAME` of the Hugging Face hub, or `${name}` of a str parameter, which may be empty. The code finds the
      folder in SLIPWAY_INPUT_NAME.
    - `trainer`: whom its jobs run as, by a name under `slipway:trainers` of the stack file; the workspace's trainer
      when None. `service_account`: an account's address instead, which the stack neither makes nor grants anything.
    - `network` projects/NUMBER/global/networks/NAME; `tensorboard` an id or its full name, not together with
      `experiment`, the name of a Vertex AI experiment.
    - `code_flag`: it may be submitted with `--code`, on stacks that allow it.
    - `checkpoints`: its code goes on from a checkpoint of its own when it is started again.
    - `labels`: of its jobs, and so in the bill. `team` names the team that they count for.
    """

    def __post_init__(self) -> None:
        if mistakes := tuple(problems(self)):
            raise ConfigError(
                f"template {self.name!r} is not well-formed",
                why="\n".join(mistakes),
                fix=f"correct templates/{file_of(self.name)}",
            )


@dataclass(frozen=True)
class StackTemplate(JobTemplate):
    """A template on the machines of a stack. `teams`: by name, the same for teams with other machines."""

    teams: Mapping[str, JobTemplate] = field(default_factory=dict)


def problems(template: Declaration) -> Iterator[str]:
    """Yield all mistakes, in the order of the fields; a mistaken type precludes all other checks."""
    yield from tuple(mistyped(template, Declaration)) or _problems(template)


def _problems(template: Declaration) -> Iterator[str]:
    if not NAME.fullmatch(template.name):
        yield "name: at most 50 lowercase letters, digits and hyphens, beginning with a letter"
    yield from _kinds(template)
    yield from _each_once("capacity_types", template.capacity_types, CAPACITY_TYPES)
    yield from _waits(template)
    if not 0 < template.timeout_s <= MAX_TIMEOUT_S:
        yield f"timeout_s: {template.timeout_s} is not between 1 and {MAX_TIMEOUT_S} (7 days)"
    yield from _account(template)
    if template.pipeline is not None:
        yield from (*_parameters(template), *_labels(template), *_not_of_pipelines(template))
        return
    if template.code is None:
        yield "code: the package or image that its jobs run is missing"
        return
    yield from map(": ".join, template.code.problems())
    yield from _parameters(template)
    yield from _pools(template, template.worker_pools)
    yield from _shapes(template, template.worker_pools, template.shapes)
    yield from _regions(template)
    for number, variant in enumerate(template.variants, 1):
        yield from (f"variant {number}: {problem}" for problem in _variant(template, variant))
        for other, before in enumerate(template.variants[: number - 1], 1):
            if all({*variant.values.get(name, (None,))} <= {*values} for name, values in before.values.items()):
                yield f"variant {number}: never applies, as variant {other} stands before it and fits first"
    if study := template.study:
        numbers = {"max_trials": study.max_trials, "parallel_trials": study.parallel_trials}
        for where, count in numbers.items():
            yield from (f"study: {problem}" for problem in _count(template, where, count, "trials"))
        for search in study.parameters:
            yield from (f"study: {problem}" for problem in search.problems())
    if template.idle:
        yield from (f"idle.{problem}" for problem in template.idle.problems())
        yield from _unlaunched(template.codes, "idle: the launcher ends it, and an image here")
    yield from _secrets(template)
    yield from _inputs(template)
    yield from _labels(template)
    yield from _placeholders(template, {parameter.name for parameter in template.parameters})
    if template.code_flag:
        yield from _unlaunched((template.code,), "code_flag: the launcher unpacks a folder, and this image")


_OF_PIPELINES = (
    *("name", "summary", "kinds", "parameters", "capacity_types", "waits", "pipeline"),
    *("network", "trainer", "service_account", "labels"),
)
"""The fields of a pipeline's template."""


def _not_of_pipelines(template: Declaration) -> Iterator[str]:
    """Yield what a pipeline's template says and the service has no place for."""
    if template.kinds != (PIPELINE_JOB.name,):
        yield f"kinds: a template with a pipeline is a {PIPELINE_JOB.name}, and nothing else"
    for name in template.capacity_types:
        if name not in (POOL, ON_DEMAND):
            yield f"capacity_types: {name}: Vertex AI runs pipelines on {POOL} and {ON_DEMAND} alone"
    read = str(template.pipeline).startswith("{")  # Its JSON stands in the place of its file then.
    known = {*_OF_PIPELINES, *(("worker_pools",) if read else ())}
    usual = Declaration(template.name, template.summary)
    for name in sorted(vars(usual).keys() - known):
        if getattr(template, name) != getattr(usual, name):
            yield f"{name}: a pipeline has no place for it; its tasks say what they run, where and for how long"


def _parameters(template: Declaration) -> Iterator[str]:
    declared = [parameter.name for parameter in template.parameters]
    yield from (f"parameter {name}: declared twice" for name in twice(declared))
    mistakes = [
        f"parameter {parameter.name}: {problem}"
        for parameter in template.parameters
        for problem in parameter.problems()
    ]
    yield from mistakes
    fillers = {parameter.name for parameter in template.parameters if not parameter.command}
    for parameter in template.parameters if not mistakes else ():
        named = {
            name
            for text in (parameter.default, *parameter.choices)
            if parameter.command
            for name in command_line.names(str(text))
        }
        yield from (f"parameter {parameter.name}: {{{name}}} is not a parameter" for name in sorted(named - fillers))
    defaults = {parameter.name: parameter.default for parameter in template.parameters if parameter.default is not None}
    if not mistakes and (much := excess(defaults)):
        yield f"parameters: the defaults {much}, and a job carries them all: put a long one into a file"


def _kinds(template: Declaration) -> Iterator[str]:
    yield from _each_once("kinds", template.kinds, KINDS)
    kinds = [KINDS[name] for name in template.kinds if name in KINDS]
    missing = ((kind, need) for kind in kinds for need in kind.needs if getattr(template, need) is None)
    yield from (f"kinds: {kind.name} needs a {need}" for kind, need in missing)
    for setting, does in (("study", "has"), ("model", "uploads"), ("pipeline", "runs")):
        if getattr(template, setting) is not None and not any(setting in kind.takes for kind in kinds):
            takers = " or a ".join(kind.name for kind in KINDS.values() if setting in kind.takes)
            yield f"{setting}: only a {takers} {does} one"


def _each_once(where: str, named: tuple[str, ...], known: Mapping[str, object]) -> Iterator[str]:
    for name in named:
        if name not in known:
            yield f"{where}: unknown {name!r}; known: {', '.join(known)}"
    if not named or len(set(named)) < len(named):
        yield f"{where}: name each of {', '.join(known)} at most once, and at least one"


def _waits(template: Declaration) -> Iterator[str]:
    of_variants = {name for variant in template.variants for name in variant.capacity_types}
    known = {
        *template.capacity_types,
        *of_variants,
        *(name for shape in template.all_shapes for name in shape.capacity_types),
    }
    for name, seconds in template.waits.items():
        if name not in known:
            yield f"waits: {name!r} is none of the capacity types {', '.join(sorted(known))}"
        elif seconds <= 0:
            yield f"waits: {name}: {seconds} is not a valid time; leave it out to wait forever"


def _variant(template: Declaration, variant: Variant) -> Iterator[str]:
    if not variant.values:
        yield "`when` is empty: what always applies are the template's own worker_pools and capacity_types"
    for name, values in variant.values.items():
        parameter = template.parameter(name)
        if parameter is None:
            yield f"unknown parameter {name}"
        elif not parameter.finite:
            yield f"parameter {name} chooses a variant, so it needs choices (or type bool), and is no list"
        elif wrong := [value for value in values if value not in parameter.finite]:
            yield f"{name} {join(map(repr, wrong), 'or')} is none of {', '.join(map(str, parameter.finite))}"
    if not variant.worker_pools and not variant.capacity_types and not variant.refusal and not variant.shapes:
        yield "neither worker_pools nor capacity_types nor shapes nor a refusal: it changes nothing"
    if variant.worker_pools:
        yield from _pools(template, variant.worker_pools)
    yield from _shapes(template, variant.worker_pools or template.worker_pools, variant.shapes)
    if variant.capacity_types:
        yield from _each_once("capacity_types", variant.capacity_types, CAPACITY_TYPES)


def _shapes(template: Declaration, first: tuple[WorkerPool, ...], shapes: tuple[Shape, ...]) -> Iterator[str]:
    named: list[object] = [_machines_of(first)]
    for number, shape in enumerate(shapes, 2):
        yield from (f"shape {number}: {problem}" for problem in _pools(template, shape.worker_pools))
        if shape.capacity_types:
            checked = _each_once("capacity_types", shape.capacity_types, CAPACITY_TYPES)
            yield from (f"shape {number}: {problem}" for problem in checked)
        machines = _machines_of(shape.worker_pools)
        if machines in named:
            apart = ", and no TPU topology tells them apart" * any(pool.tpu_topology for pool in shape.worker_pools)
            yield f"shape {number}: the machines of shape {named.index(machines) + 1}, in the same numbers{apart}"
        named.append(machines)


def _regions(template: Declaration) -> Iterator[str]:
    for name in template.regions:
        if name not in regions():
            yield f"regions: {name!r} has no custom training; did you mean {nearest(name, regions()) or regions()[0]}?"
    yield from (f"regions: {name} is listed twice" for name in twice(template.regions))
    types = [*template.capacity_types]
    types += [name for variant in template.variants for name in variant.capacity_types]
    types += [name for shape in template.all_shapes for name in shape.capacity_types]
    if template.regions and {*types} <= PAID_ANYWAY:
        yield "regions: none of its capacity types has machines of its own, and a pool is where its cluster is"
    if template.regions and template.at_home:
        yield f"regions: its {template.at_home} is in the stack's own region, and so must its jobs be"


def _machines_of(pools: tuple[WorkerPool, ...]) -> tuple[object, ...]:
    """Return the machines of a shape, which no other shape has, however their accelerators are written."""
    return tuple((_machine_of(pool), pool.replicas) for pool in pools)


def _machine_of(pool: WorkerPool) -> str:
    try:
        return str(pool.spec)
    except MachineError:  # A key of the stack, or a mistake that is told beside this.
        return pool.machine


def _pools(template: Declaration, pools: tuple[WorkerPool, ...]) -> Iterator[str]:
    if not 1 <= len(pools) <= MOST_POOLS:
        yield f"worker_pools: {len(pools)}; Vertex AI takes 1 to {MOST_POOLS}"
    else:
        try:
            if places(pools)[0] != 0:
                yield f"worker pool {pools[0].role!r}: the first one is the chief, whatever its `position`"
        except ValueError as error:
            yield f"worker pool {str(error)!r}: no place is left for it; the order is {', '.join(POSITIONS)}"
    if pools and pools[0].replicas != 1:
        yield f"worker pool {pools[0].role!r}: the first one is the chief and must have exactly 1 replica"
    if len({pool.role for pool in pools}) < len(pools):
        yield "worker_pools: each needs a role of its own"
    for pool in pools:
        yield from (f"worker pool {pool.role!r}: {problem}" for problem in _pool(template, pool))


def _pool(template: Declaration, pool: WorkerPool) -> Iterator[str]:
    if pool.key:  # Its machine is known once there is a stack.
        if pool.accelerator or pool.accelerator_count or pool.tpu_topology:
            yield f"machine {pool.key!r} is a key of the stack, which says its accelerators; leave them out"
    else:
        try:
            shape = pool.shape
        except MachineError as error:
            yield f"{error.what} ({error.fix})"
            return
        if pool.spec.disk.type not in shape.disks:
            yield f"disk {pool.disk.type!r} does not fit {shape.type}; fitting: {', '.join(shape.disks)}"
    yield from _count(template, "replicas", pool.replicas, "machines")
    if pool.code is not None:
        yield from map(": ".join, pool.code.problems())


def _count(template: Declaration, where: str, count: int | str, what: str) -> Iterator[str]:
    if isinstance(count, int):
        if count < 1:
            yield f"{where} {count} is below 1"
        return
    parameter = template.parameter(whole(count) or "")
    if parameter is None or parameter.type is not int:
        yield f"{where} {count!r} is neither a number nor '${{name}}' of an int parameter"
        return
    least = min(map(int, parameter.choices), default=parameter.min)
    if least is None or least < 1 or not (parameter.choices or parameter.max is not None):
        yield f"{where} {count!r}: {parameter.name} counts {what}: it needs min (1 or more) and max, or choices"


def _placeholders(template: Declaration, declared: set[str]) -> Iterator[str]:
    variables = _variables(template)
    for name in RECORDS:
        if name in (*variables, *template.secrets):
            yield f"environment variable {name}: Slipway sets it itself, to what each submission gives"
    for name in SHAPE_VARIABLES if template.all_shapes else ():
        if name in (*variables, *template.secrets):
            yield f"environment variable {name}: Slipway sets it itself, to what each shape has"
    own, ours = len({*variables, *template.secrets}), len(SHAPE_VARIABLES) + 1
    if template.all_shapes and own <= MOST_ENV < own + ours:
        yield f"{own} environment variables, and {ours} of Slipway's with shapes; at most {MOST_ENV}"
    for where, named in (("env", variables), ("secrets", template.secrets)):
        for name in named:
            if name.startswith(INPUT):
                yield f"{where} {name!r}: a name of that beginning is an input's; name it in inputs"
            if not ENV_NAME.fullmatch(name):
                yield f"{where} {name!r}: not a C identifier"
    used = {name for text in _texts(template) for name in names(unescaped(text))}
    for unknown in sorted(used - declared - {*BUILT_IN, KIND}):
        known = ", ".join(sorted(declared)) or "none"
        yield f"unknown parameter ${{{unknown}}}; declared: {known}; a shell's own variable is $${{{unknown}}}"
    chosen_by = {name for variant in template.variants for name in variant.when}
    for unused in sorted(declared - used - chosen_by):
        yield f"parameter {unused} is used nowhere"


def _variables(template: Declaration) -> Iterable[str]:
    return dict.fromkeys((*template.env, *(name for pool in template.all_pools for name in pool.env)))


def _texts(template: Declaration) -> Iterable[str]:
    for pool in template.all_pools:
        yield from pool.args
        yield from pool.env.values()
        yield str(pool.replicas)
    for code in template.codes:
        yield from code.command if isinstance(code, Image) else ()
    yield from (*template.env.values(), *template.inputs.values())
    if template.study is not None:
        yield from (str(template.study.max_trials), str(template.study.parallel_trials))
    if (model := template.model) is not None:
        yield from (model.display_name, model.model_id or "", model.parent_model or "", model.description)
        yield from model.serving_args


def _account(template: Declaration) -> Iterator[str]:
    account, trainer = template.service_account, template.trainer
    if account is not None and "${" not in account and not re.fullmatch(SERVICE_ACCOUNT, account):
        yield f"service_account: {account!r} is not an account's address: trainer@acme-ml.iam.gserviceaccount.com"
    if trainer is not None and not _TRAINER.fullmatch(trainer):
        yield f"trainer: {trainer!r} is not a trainer's name: lowercase letters, digits and hyphens"
    if trainer is not None and account is not None:
        yield "trainer: a job runs as one account; give a trainer of the stack, or a service_account, not both"


def _secrets(template: Declaration) -> Iterator[str]:
    variables = _variables(template)
    for name, secret in template.secrets.items():
        if name in variables or f"{name}__SECRET" in variables:
            yield f"secrets {name!r}: it is in env as well"
        if not SECRET.fullmatch(secret):
            yield f"secrets {name!r}: give the secret's name, or projects/…/secrets/NAME/versions/N; never its value"


def _inputs(template: Declaration) -> Iterator[str]:
    for name, address in template.inputs.items():
        where, filler = f"inputs {name!r}", template.parameter(whole(address) or "")
        if not PARAMETER_NAME.fits(name):
            yield f"{where}: the name must be lowercase letters, digits and _, beginning with a letter"
        if filler is not None and (filler.type is not str or filler.command):
            yield f"{where}: an address is a str, and no command: so must parameter {filler.name} be"
            continue
        texts = (filler.default, *filler.choices) if filler else () if whole(address) else (address,)
        if wrong := [text for text in texts if (text or not filler) and not INPUT_ADDRESS.fullmatch(str(text))]:
            yield f"{where}: {wrong[0]!r} is no gs://BUCKET/PREFIX, hf://ORG/NAME or '${{name}}' of a str parameter"
    if template.inputs:
        yield from _unlaunched(template.codes, "inputs: the launcher copies them, and an image here")


def _unlaunched(codes: tuple[Code, ...], need: str) -> Iterator[str]:
    if bare := [code for code in codes if isinstance(code, Image) and not code.launched]:
        way = "give its command" if bare[0].launcher else f"leave out launcher=False, or {need.partition(':')[0]}"
        yield f"{need} starts without it: {way}"


def _labels(template: Declaration) -> Iterator[str]:
    if len(template.labels) > MOST_LABELS:
        yield f"labels: {len(template.labels)}; at most {MOST_LABELS}"
    for key, value in template.labels.items():
        if key.startswith(RESERVED):
            yield f"labels: {key!r} begins with {next(filter(key.startswith, RESERVED))}, as those that are set for you"
        if not value:
            yield f"labels: {key!r} is empty; leave it out"
        yield from (f"labels: {problem}" for problem in label_problems(key, value))
