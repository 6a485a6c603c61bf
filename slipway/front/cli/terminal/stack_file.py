"""The stack file of a comparison, and the clusters that it and the stack declare."""

from __future__ import annotations

from pathlib import Path

from slipway.base.errors import ConfigError
from slipway.deploying.deployment.checkout import file_at
from slipway.google.catalog.lookup import checkout
from slipway.model.cluster import ClusterSpec
from slipway.using.context import Context


def stack_file(context: Context) -> Path:
    """Return the file of the catalog's stack in this checkout. Raises ConfigError."""
    name = f"Pulumi.{context.catalog.stack}.yaml"
    root = checkout(context.folder) or context.folder
    path = root / "stacks" / name
    if not path.is_file():
        raise ConfigError(
            f"this checkout has no stack file of stack {context.catalog.stack}",
            why=f"there is no stacks/{name}",
            fix="name one: slipway what-if FILE",
        )
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def before_and_after(
    context: Context, path: Path, base: str | None
) -> tuple[tuple[ClusterSpec, ...], tuple[ClusterSpec, ...]]:
    """Return the clusters that are deployed, or that a stack file declares at a commit, and those of the present file.
    Raises ConfigError."""
    after = _clusters(path)
    return _clusters(path, base) if base else tuple(context.catalog.clusters.values()), after


def _clusters(path: Path, ref: str = "") -> tuple[ClusterSpec, ...]:
    from slipway.authoring.stack.stack import parse
    from slipway.authoring.stack.yaml_file import from_text, load

    return parse(from_text(file_at(path, ref), f"{ref}:{path}") if ref else load(path)).clusters
