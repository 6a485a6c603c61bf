"""A catalog's request with its ``${…}`` placeholders filled: the exact JSON that is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from slipway.catalog.model import Catalog, Scalar, Template, Way
from slipway.errors import ConfigError
from slipway.submit import naming
from slipway.submit.parameters import render

_PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")
_EXPANDED_BY_SERVICE = re.compile(r"\$(?=\([A-Za-z_][A-Za-z0-9_]*\))")
_NUMERIC = frozenset({"replicaCount", "acceleratorCount", "bootDiskSizeGb"})


def fill(
    catalog: Catalog, template: Template, way: Way, values: Mapping[str, Scalar], *, request_id: str, user: str
) -> dict[str, Any]:
    """The custom job to post. Raises ConfigError when the catalog names a placeholder that nobody fills.

    A value can't smuggle in another placeholder, nor one of the service's own ``$(NAME)`` expansions.
    """
    job = naming.job_name(template.name, request_id)
    texts = {name: _EXPANDED_BY_SERVICE.sub("$$", render(value)) for name, value in values.items()}
    texts["slipway.job"] = job
    texts["slipway.request"] = request_id
    texts["slipway.output"] = f"gs://{catalog.work_bucket}/jobs/{job}"
    body: dict[str, Any] = {key: _filled(value, key, texts, template.name) for key, value in way.request.items()}
    labels = {
        **body.get("labels", {}),
        naming.USER_LABEL: naming.label_value(user),
        naming.ROLES_LABEL: naming.roles_value(template.roles),
    }
    body["labels"] = {key: value for key, value in labels.items() if value}
    return body


def _filled(value: Any, key: str, texts: Mapping[str, str], template: str) -> Any:
    if isinstance(value, Mapping):
        return {inner: _filled(one, inner, texts, template) for inner, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, key, texts, template) for one in value]
    if not isinstance(value, str):
        return value
    whole = _PLACEHOLDER.fullmatch(value)
    text = _PLACEHOLDER.sub(lambda match: _text(match.group(1), texts, template), value)
    return int(text) if whole and key in _NUMERIC else text


def _text(name: str, texts: Mapping[str, str], template: str) -> str:
    if name not in texts:
        raise ConfigError(
            f"template {template!r} can't be filled: ${{{name}}} is none of its parameters",
            why="the catalog is not consistent with itself",
            fix="publish it again: pulumi up",
        )
    return texts[name]
