"""A template as the exact request that is posted, with placeholders for a submission's own values.

The result, filled with the template's usual values, is checked with the official message type and against
`slipway.model.rules`, so that a request that the service would refuse is an error in preview and not at somebody's
submission.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from slipway.authoring.template.case import Case
from slipway.authoring.template.declaration import file_of
from slipway.authoring.template.job_template import JobTemplate
from slipway.authoring.template.jobspec import CompileContext, job_spec, on_cluster
from slipway.authoring.template.worker_pool import Code
from slipway.base.errors import ConfigError
from slipway.google.messages import message
from slipway.model.catalog.parameter_types import Value
from slipway.model.catalog.placeholders import (
    DOLLAR,
    EXPERIMENT_RUN,
    JOB,
    KIND,
    OUTPUT,
    PACKAGE,
    REQUEST,
    SWEEP,
    escaped,
    fill,
    unescaped,
)
from slipway.model.cluster import ClusterSpec
from slipway.model.kinds import KINDS, JobKind
from slipway.model.kinds.pipeline import THIS_STACK
from slipway.model.labels import (
    CAPACITY_TYPE_LABEL,
    COMMIT_LABEL,
    DIRTY_LABEL,
    REQUEST_LABEL,
    STACK_LABEL,
    TEMPLATE_LABEL,
    record,
    recorded,
)
from slipway.model.rules import reservations, strategies
from slipway.model.rules.table import check as check_rules


def request(
    template: JobTemplate,
    capacity_type: str,
    context: CompileContext,
    packages: Mapping[Code, str],
    cluster: str | None = None,
    *,
    kind: str | None = None,
    case: Case | None = None,
    on: ClusterSpec | None = None,
    refused: bool = False,
    checked: Iterable[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the body to post, canonical proto3 JSON with `${…}` in it; its address depends on `kind`.

    `packages` are gs:// URIs. `cluster` is the name of its cluster, `on` the cluster's declaration, for its network and
    key. `refused`: the stack has no pool or reservation for it, so the request only shows what would be sent.
    `checked`: bodies of the same parameters that were checked with the official type already.

    Raises ConfigError when the official type or a rule of the service rejects it.
    """
    kind, case = kind or template.kind, case or Case()
    spec = job_spec(template, KINDS[kind], capacity_type, case, context, packages, on)
    if cluster is not None:
        spec |= on_cluster(template, case, context, context.clusters[cluster], on)
    # In JSON a `${` stands in texts alone, so that they are all escaped at once.
    here = (template.pipeline or "null").replace(THIS_STACK, f"gs://{context.catalog_bucket}")
    asked = KINDS[kind].body(spec, template.study, template.model, json.loads(escaped(here)))
    body: dict[str, Any] = {"displayName": f"${{{JOB}}}", **asked}
    body = fill(unescaped(body), {KIND: kind})
    body["labels"] = {
        **template.labels,
        TEMPLATE_LABEL: template.name,
        STACK_LABEL: context.identity.label,
        COMMIT_LABEL: context.commit,
        DIRTY_LABEL: str(context.dirty).lower(),
        CAPACITY_TYPE_LABEL: capacity_type,
        REQUEST_LABEL: f"${{{REQUEST}}}",
    }
    # Vertex AI refuses a job whose key is not that of its cluster.
    if kms_key := on.kms_key if on else context.kms_key:
        body["encryptionSpec"] = {"kmsKeyName": kms_key}
    if _without_commit(body) not in map(_without_commit, checked):
        check(template, body, kind=kind, case=case)  # The check imports the type, which takes longer than all the rest.
    if not refused:
        _obey(template, body, kind, capacity_type, case, (on.region if on else "") or context.region)
    return body


def _without_commit(body: Mapping[str, Any]) -> dict[str, Any]:
    labels = {name: value for name, value in body["labels"].items() if name not in (COMMIT_LABEL, DIRTY_LABEL)}
    return {**body, "labels": labels}


def usual_values(template: JobTemplate, case: Case | None = None) -> Mapping[str, Value]:
    """Return a value for every placeholder: a parameter's default, else one that it may have in the case."""
    built_in: dict[str, Value] = {
        JOB: f"{template.name}-aaaaaaaa",
        REQUEST: "request",
        OUTPUT: "gs://bucket/jobs/job",
        PACKAGE: "gs://bucket/packages/package.tar.gz",
        SWEEP: "sweep",
        EXPERIMENT_RUN: f"{template.name}-aaaaaaaa",
        DOLLAR: "$",
    }
    usual = {parameter.name: parameter.usual for parameter in template.parameters}
    for name, values in (case.when if case else {}).items():
        usual[name] = usual[name] if usual.get(name) in values else values[0]
    return built_in | usual


def check(template: JobTemplate, body: Mapping[str, Any], *, kind: str | None = None, case: Case | None = None) -> Any:
    """Return the filled body as the official message. Raises ConfigError with the path of an invalid field."""
    from google.protobuf.json_format import ParseDict, ParseError

    filled = fill(body, usual_values(template, case))

    def parse(kind: JobKind, body: Mapping[str, Any]) -> Any:
        return ParseDict(dict(body), message(f"google.cloud.aiplatform_{kind.version}", kind.module, kind.message)())

    asked = KINDS[kind or template.kind]
    try:
        return asked.parsed(filled, parse)
    except ParseError as error:
        raise ConfigError(
            f"template {template.name} is not a valid {asked.message}",
            why=" ".join(str(error).split()),
            fix=f"the message's fields are those of google.cloud.aiplatform_{asked.version}.{asked.message}",
        ) from error


def _obey(
    template: JobTemplate, body: Mapping[str, Any], kind: str, capacity_type: str, case: Case, region: str
) -> None:
    """Raise ConfigError with every rule that the request breaks wherever it runs."""
    filled = fill(body, usual_values(template, case))
    # A submission records its parameters in a variable of each worker, which counts for the rules too.
    usual = {parameter.name: parameter.usual for parameter in template.parameters}
    record(KINDS[kind].spec_of(filled), recorded(usual))
    breaches = check_rules(kind, capacity_type, filled, region=region)
    broken = [breach for breach in breaches if not breach.rule.of_place]
    if broken:
        where = f" ({case})" if case.when else ""
        # Only for these rules may another capacity type make a difference.
        of_capacity_type = all(breach.rule in (*strategies.RULES, *reservations.RULES) for breach in broken)
        other = f"; to take {capacity_type} out of its capacity_types may do" if of_capacity_type else ""
        raise ConfigError(
            f"template {template.name}: capacity type {capacity_type}{where} breaks {len(broken)} of Vertex AI's rules",
            why="\n".join(map(str, broken)),
            fix=f"correct templates/{file_of(template.name)}{other}",
        )
