"""The template that a file is written with. It checks itself: an existing one is well-formed.

Errors are `ConfigError`s that name the template and the field. `slipway.authoring.template.proof` checks whether it
fits a pool, `slipway.model.rules` what Vertex AI allows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from slipway.authoring.template.declaration import Declaration, file_of
from slipway.authoring.template.machine_checks import count_problems, each_once, machine_problems, wait_problems
from slipway.authoring.template.types import mistyped
from slipway.authoring.template.worker_pool import Code, Image
from slipway.base.errors import ConfigError
from slipway.model.capacity import CAPACITY_TYPES, ON_DEMAND, POOL
from slipway.model.catalog import command_line
from slipway.model.catalog.forms import PARAMETER_NAME
from slipway.model.catalog.placeholders import BUILT_IN, KIND, names, unescaped, whole
from slipway.model.cluster import SERVICE_ACCOUNT
from slipway.model.kinds import KINDS, PIPELINE_JOB
from slipway.model.labels import INPUT, INPUT_ADDRESS, RECORDS, RESERVED, SHAPE_VARIABLES, excess
from slipway.model.rules.code import ENV_NAME, MOST_ENV
from slipway.model.rules.job import label_problems
from slipway.model.rules.rule import twice
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
    """A template on the machines of a stack. `teams`: by name, the same for teams with other machines. `keys`: by role,
    the keys of the stack that it names them by."""

    teams: Mapping[str, JobTemplate] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)


def problems(template: Declaration) -> Iterator[str]:
    """Yield all mistakes, in the order of the fields; a mistaken type precludes all other checks."""
    yield from tuple(mistyped(template, Declaration)) or _problems(template)


def _problems(template: Declaration) -> Iterator[str]:
    if not NAME.fullmatch(template.name):
        yield "name: at most 50 lowercase letters, digits and hyphens, beginning with a letter"
    yield from _kinds(template)
    yield from each_once("capacity_types", template.capacity_types, CAPACITY_TYPES)
    yield from wait_problems(template)
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
    yield from machine_problems(template)
    if study := template.study:
        numbers = {"max_trials": study.max_trials, "parallel_trials": study.parallel_trials}
        for where, count in numbers.items():
            yield from (f"study: {problem}" for problem in count_problems(template, where, count, "trials"))
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
    yield from each_once("kinds", template.kinds, KINDS)
    kinds = [KINDS[name] for name in template.kinds if name in KINDS]
    missing = ((kind, need) for kind in kinds for need in kind.needs if getattr(template, need) is None)
    yield from (f"kinds: {kind.name} needs a {need}" for kind, need in missing)
    for setting, does in (("study", "has"), ("model", "uploads"), ("pipeline", "runs")):
        if getattr(template, setting) is not None and not any(setting in kind.takes for kind in kinds):
            takers = " or a ".join(kind.name for kind in KINDS.values() if setting in kind.takes)
            yield f"{setting}: only a {takers} {does} one"


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
