"""An edit of the bounds of pools in a stack file's text, which leaves everything else as it is written. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import yaml

from slipway.authoring.stack.yaml_loader import StackLoader
from slipway.base.errors import ConfigError

PoolBounds = Mapping[tuple[str, str], tuple[int, int]]
"""The minimum and maximum machines by cluster and pool; equal ones are a fixed size."""
_Edit = tuple[int, int, str]
"""The start and the end of a part of the file, and the text in its place."""


def with_bounds(text: str, bounds: PoolBounds) -> str:
    """Return the text of a stack file with other bounds of some pools. Raises ConfigError for a pool that is not
    written at its cluster: an alias or a merge gives the same bounds to several."""
    root = StackLoader(text).get_single_node()
    shared = _shared(root)
    pools = {name: _replicas(root, shared, *name) for name in bounds}
    edits = [edit for name, node in pools.items() for edit in _edits(node, *bounds[name])]
    # From the end of the file, so that the places of the edits before it stay right.
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _shared(root: yaml.Node | None) -> frozenset[int]:
    """Return the ids of nodes that are written once and used in several places."""
    seen: set[int] = set()
    twice: set[int] = set()
    pending = [root] if root is not None else []
    while pending:
        node = pending.pop()
        if id(node) in seen:
            twice.add(id(node))
        else:
            seen.add(id(node))
            pending += node.value if isinstance(node, yaml.SequenceNode) else _values(node)
    return frozenset(twice)


def _replicas(root: yaml.Node | None, shared: frozenset[int], cluster: str, pool: str) -> yaml.Node:
    node = root
    for key in ("config", "slipway:persistentResources", cluster, "pools", pool, "replicas"):
        node = _child(node, key)
        if node is None or id(node) in shared:
            break
    if node is None or any(id(part) in shared for part in (node, *_values(node))):
        raise ConfigError(
            f"the file does not write the replicas of {cluster}/{pool} for that pool alone",
            why="they come from an alias or a merge, or from nowhere",
            fix="write them in its entry",
        )
    return node


def _values(node: yaml.Node) -> list[yaml.Node]:
    return [child for _, child in node.value] if isinstance(node, yaml.MappingNode) else []


def _child(node: yaml.Node | None, key: str) -> yaml.Node | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((child for name, child in node.value if name.value == key), None)


def _edits(node: yaml.Node, least: int, most: int) -> Iterator[_Edit]:
    """Yield the edits. A range stays a range in its present form; any other value is written anew."""
    low, high, initial = (_child(node, key) for key in ("min", "max", "initial"))
    if low is None or high is None or least == most:
        text = str(least) if least == most else f"{{ min: {least}, max: {most} }}"
        yield node.start_mark.index, _end(node), text
        return
    numbers = [(low, least), (high, most)]
    if initial is not None:
        numbers.append((initial, min(max(StackLoader("").construct_object(initial), least), most)))
    for scalar, number in numbers:
        yield scalar.start_mark.index, scalar.end_mark.index, str(number)


def _end(node: yaml.Node) -> int:
    """Return the end of a node, a block's at its last value: a comment may follow, or the next key's indent."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style:
        return max(int(child.end_mark.index) for child in _values(node))
    return int(node.end_mark.index)
