"""A submission's own settings, checked: by themselves, and against the template that they are added to. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from slipway.authoring.stack.secrets import assigned, certainly_secret, has_form, looks_secret
from slipway.base.errors import ConfigError, Fix, PolicyError, together
from slipway.base.formatting import counted, quoted, seconds, span, unfit
from slipway.model.capacity import WEEK
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.parameter_types import Value
from slipway.model.catalog.template import Offer, Template
from slipway.model.kinds import PIPELINE_JOB
from slipway.model.labels import INPUT, RECORDS, excess
from slipway.model.own_settings import MOST_RETRIES, OF_SECRET, OwnSettings
from slipway.model.rules.code import ENV_NAME, MOST_ENV, value_problem
from slipway.model.secret import SECRET
from slipway.using.submission.parameters import ParameterMistake as Mistake
from slipway.using.submission.request import tells

_SET_BY_OTHERS = ("SLIPWAY_", "AIP_", "CLOUD_ML_", "CLUSTER_SPEC", "TF_CONFIG")
"""Variables of these beginnings are the launcher's or the service's."""
_OF_IMAGE = ("PATH", "PYTHONHOME")
"""Variables by which the launcher's Python is found."""
_SECONDS = re.compile(r"(\d{1,9})(?:\.\d*)?s")
_VALUE = re.compile(r"(?=\D*\d)[A-Za-z0-9]{32,}")
"""A key, as W&B's is, which might be a secret's name by its letters."""


def checked_settings(
    env: Mapping[str, str],
    secrets: Mapping[str, str],
    max_run: str | None,
    retries: int | None,
    replicas: int | None,
    retry_on: Iterable[int] = (),
) -> OwnSettings:
    """Return the settings. Raises one ConfigError with all mistakes, which repeats no value that may be secret."""
    mistakes = [*_variables(env), *_secrets(env, secrets)]
    longest = None if max_run is None else math.floor(seconds(max_run))
    if longest == 0:
        mistakes.append(Mistake("", f"max_run {quoted(max_run or '')} is below a second", "90m or 2h, for example"))
    if retries is not None and not 0 <= retries <= MOST_RETRIES:
        mistakes.append(Mistake("", f"{retries} retries", f"0 to {MOST_RETRIES}"))
    codes = tuple(sorted({*retry_on}))
    if wrong := [code for code in codes if not 0 < code < 256]:
        mistakes.append(Mistake("", f"{wrong[0]} is no exit code of a failure", "1 to 255"))
    if codes and not retries:
        mistakes.append(Mistake("", "exit codes to retry on, and no retries", ({"retries": 2},)))
    if replicas is not None and replicas < 1:
        mistakes.append(Mistake("", f"{replicas} replicas", "1 or more"))
    if not mistakes and (problem := excess({"env": env, "secrets": secrets})):
        mistakes.append(Mistake("", f"the settings {problem}", "put long values into a file of the folder"))
    if mistakes:
        raise ConfigError(
            f"{counted(len(mistakes), 'setting')} wrong",
            why="\n".join(mistake.what for mistake in mistakes),
            fix=together(mistake.fix for mistake in mistakes),
        )
    return OwnSettings(env=env, secrets=secrets, max_run=longest, retries=retries, replicas=replicas, retry_on=codes)


def require_free_name(catalog: Catalog, name: str) -> None:
    """Raise ConfigError for a job's name that a template has, or that the job of one may have."""
    # Letters alone are rather a word, as in `script-baseline`.
    if own := next((each for each in catalog.templates if re.fullmatch(rf"{each}-(?=.*\d)[a-z2-7]{{8}}", name)), ""):
        raise ConfigError(
            f"{name} has the form of the names that jobs of {own} are given",
            why="a job of that very name would be found in place of yours",
            fix=({"job_name": name.removeprefix(f"{own}-")}, ", for example"),
        )
    if name in catalog.templates:
        raise ConfigError(f"{name} is a template", why="its newest job goes by that name", fix="choose another name")


def require_settings(template: Template, offers: Iterable[Offer], settings: OwnSettings) -> None:
    """Raise for settings that the template's jobs can't have: PolicyError where other code than the reviewed one may
    not run, ConfigError for the rest."""
    offers = tuple(offers)
    if settings and any(offer.kind == PIPELINE_JOB.name for offer in offers):
        raise ConfigError(
            f"a pipeline has no place for {_words(settings)}",
            why="its tasks have variables, limits and retries of their own, which were compiled into it",
            fix="give them to the pipeline as parameters",
        )
    if (settings.env or settings.secrets) and not template.takes_code:
        raise PolicyError(
            f"{template.name} takes no variables of one job's own",
            why="it runs the code that was reviewed with it, and a variable can make that do something else",
            fix=f"slipway templates show {template.name}, which has its parameters",
        )
    if settings.retries and not all(map(tells, offers)):
        raise ConfigError(
            f"a {offers[0].kind} of {template.name} is not tried again",
            why="the launcher does that, of custom jobs alone, and an image may start without it",
            fix=("leave out ", {"retries": settings.retries}),
        )
    most = max((len(pool.get("env") or ()) for offer in offers for pool in _tasks(offer)), default=0)
    if (total := most + len(settings.env) + len(settings.secrets) + len(RECORDS)) > MOST_ENV:
        raise ConfigError(
            f"{total} environment variables, those of {template.name} among them",
            why=f"a job has {MOST_ENV} at most",
            fix="put them into a file of the folder",
        )
    limit = longest_run(offers)
    if settings.max_run is not None and settings.max_run > limit:
        raise ConfigError(
            f"{template.name} may run {span(limit)} at most, and {span(settings.max_run)} are asked for",
            why="the template's timeout_s is the limit of each of its jobs"
            if limit < WEEK
            else "the template has no timeout_s, and Vertex AI ends a job without one after that time",
            fix=({"max_run": f"{limit}s"}, f", or ask the owners of {template.name} for a longer timeout_s"),
        )


def longest_run(offers: Iterable[Offer]) -> int:
    """Return the seconds that a job of any of these offers may run."""
    return min((longest for offer in offers if (longest := _timeout(offer)) is not None), default=WEEK)


def require_no_secret(values: Mapping[str, Value], to: str = "") -> None:
    """Raise ConfigError for a parameter or a note whose text has a secret's form, or assigns what certainly is one: the
    job records it, and lists show it. `to`: the command that takes it by its name."""
    for name, value in values.items():
        if isinstance(value, str) and (
            has_form(value) or any(certainly_secret(own, to) for to, own in assigned(value))
        ):
            raise ConfigError(f"{name} has a secret in it", why=_STORED, fix=_by_name("NAME", to))


_STORED = "what a job is given is stored with it, for everybody who may list jobs; and shells keep what is typed"


def _by_name(variable: str, to: str = "") -> Fix:
    return (f"put it into Secret Manager, and give its name: {to}", {"secrets": {variable: "SECRET"}})


def _variables(env: Mapping[str, str]) -> Iterator[Mistake]:
    for name, value in env.items():
        if not ENV_NAME.fullmatch(name):
            yield Mistake(
                name, f"{quoted(name)} is no variable's name: letters, digits and _", ({"env": {"LR": "0.1"}},)
            )
        elif name.startswith(_SET_BY_OTHERS):
            other = "the address of an input" if name.startswith(INPUT) else "set for each job"
            yield Mistake(name, f"{name} is {other}", "choose another name")
        elif name.endswith(OF_SECRET):
            yield Mistake(name, f"{name} is how a job is told a secret", _by_name(name.removesuffix(OF_SECRET)))
        elif own := _of_image(name, value):
            yield own
        elif looks_secret(value, name):
            yield Mistake(name, f"{name} has a secret's name or form. {_STORED.capitalize()}", _by_name(name))
        elif not value:
            yield Mistake(name, f"{name} is empty, which Vertex AI refuses", "leave it out")
        elif wrong := unfit(value):
            yield Mistake(name, f"{name} {wrong}", "type it anew")
        elif problem := value_problem(name, value):
            yield Mistake(name, *problem)


def _of_image(name: str, value: str) -> Mistake | None:
    """Return the mistake of a variable that would replace the image's value, without which nothing starts."""
    extends = re.search(rf"\$\{{?{name}\b", value) is not None
    if name not in _OF_IMAGE and not extends:
        return None
    what = f"{name} replaces the value of the image"
    why = "no shell expands a variable in it" if extends else "the job would not find Python without it"
    way = "let the command extend it: slipway run"
    return Mistake(name, f"{what}, and {why}", f"{way} '{name}=FOLDER:${name} python train.py'")


def _secrets(env: Mapping[str, str], secrets: Mapping[str, str]) -> Iterator[Mistake]:
    for name, secret in secrets.items():
        if not ENV_NAME.fullmatch(name) or name.startswith(_SET_BY_OTHERS):
            yield Mistake(name, f"{quoted(name)} can't be a secret's variable", "WANDB_API_KEY=wandb-key, for example")
        elif name in env:
            yield Mistake(name, f"{name} is a variable and a secret", "give it once")
        elif not SECRET.fullmatch(secret) or has_form(secret) or _VALUE.fullmatch(secret):
            yield Mistake(name, f"{name} is not given a secret's name of Secret Manager", _by_name(name))


def _tasks(offer: Offer) -> Iterator[Mapping[str, Any]]:
    for pool in offer.spec.get("workerPoolSpecs", ()):
        yield pool.get("pythonPackageSpec") or pool.get("containerSpec") or {}


def _timeout(offer: Offer) -> int | None:
    found = _SECONDS.fullmatch(str(offer.spec.get("scheduling", {}).get("timeout")))
    return int(found[1]) if found else None


def _words(settings: OwnSettings) -> str:
    if settings.retries:
        return "retries"
    return "a time limit" if settings.max_run is not None else "variables of one job's own"
