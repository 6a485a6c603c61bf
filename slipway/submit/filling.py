"""A catalog's request with its ``${…}`` placeholders filled: the exact JSON that is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slipway.catalog.model import Catalog, Offer, Scalar, Template
from slipway.cloud.kinds import KINDS
from slipway.errors import ConfigError
from slipway.labels import ROLES_LABEL, SWEEP_LABEL, USER_LABEL, label_value, roles_value
from slipway.submit import naming
from slipway.submit.parameters import render

_PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")
_EXPANDED_BY_SERVICE = re.compile(r"\$(?=\([A-Za-z_][A-Za-z0-9_]*\))")
NUMERIC = frozenset(
    {"replicaCount", "acceleratorCount", "bootDiskSizeGb", "maxTrialCount", "parallelTrialCount", "maxFailedTrialCount"}
)


@dataclass(frozen=True)
class Extras:
    """What one submission may add to its template's request.

    ``package``: gs:// URI in place of the template's. ``sweep``: the id of the sweep it belongs to. ``experiment`` and
    ``experiment_run`` in place of the template's and of the job's name. ``max_wait``: seconds that the service is to
    wait for machines, 0 for ever. ``labels`` are added.
    """

    package: str = ""
    sweep: str = ""
    experiment: str = ""
    experiment_run: str = ""
    max_wait: float | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


def fill(
    catalog: Catalog,
    template: Template,
    offer: Offer,
    values: Mapping[str, Scalar],
    *,
    request_id: str,
    user: str,
    extras: Extras | None = None,
) -> dict[str, Any]:
    """The job to post. Raises ConfigError when the catalog names a placeholder that nobody fills.

    A value can't smuggle in another placeholder, nor one of the service's own ``$(NAME)`` expansions.
    """
    extras = extras or Extras()
    job = naming.job_name(template.name, request_id)
    texts = {name: _EXPANDED_BY_SERVICE.sub("$$", render(value)) for name, value in values.items()}
    texts["slipway.job"] = job
    texts["slipoffer.request"] = request_id
    texts["slipway.output"] = f"gs://{catalog.work_bucket}/jobs/{job}"
    texts["slipway.package"] = extras.package or template.package
    texts["slipway.sweep"] = extras.sweep
    texts["slipway.experimentRun"] = extras.experiment_run or job
    body: dict[str, Any] = {key: _filled(value, key, texts, template.name) for key, value in offer.request.items()}
    spec = KINDS[offer.kind].spec_of(body)
    if extras.max_wait is not None:
        spec["scheduling"] = {**spec.get("scheduling", {}), "maxWaitDuration": f"{extras.max_wait:.0f}s"}
    if extras.experiment:
        _belong(spec, extras.experiment)
    labels = {
        **body.get("labels", {}),
        USER_LABEL: label_value(user),
        ROLES_LABEL: roles_value(offer.roles or template.roles),
        SWEEP_LABEL: extras.sweep,
        **extras.labels,
    }
    body["labels"] = {key: value for key, value in labels.items() if value}
    return body


def _belong(spec: dict[str, Any], experiment: str) -> None:
    """Puts the job into another experiment: the run's context is named after its experiment's."""
    own = spec["experiment"]
    other = f"{own.rpartition('/')[0]}/{experiment}"
    spec["experimentRun"] = other + spec["experimentRun"].removeprefix(own)
    spec["experiment"] = other


def _filled(value: Any, key: str, texts: Mapping[str, str], template: str) -> Any:
    if isinstance(value, Mapping):
        return {inner: _filled(one, inner, texts, template) for inner, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, key, texts, template) for one in value]
    if not isinstance(value, str):
        return value
    whole = _PLACEHOLDER.fullmatch(value)
    text = _PLACEHOLDER.sub(lambda match: _text(match.group(1), texts, template), value)
    return int(text) if whole and key in NUMERIC else text


def _text(name: str, texts: Mapping[str, str], template: str) -> str:
    if name not in texts:
        raise ConfigError(
            f"template {template!r} can't be filled: ${{{name}}} is none of its parameters",
            why="the catalog is not consistent with itself",
            fix="publish it again: pulumi up",
        )
    return texts[name]
