"""YAML as the engine reads it: scalars as Go's yaml.v3 takes them, not as YAML 1.1 does, and merges (`<<`) that end."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime

import yaml

MOST_NODES = 200_000
"""The most nodes: aliases of aliases, and merges of merges, grow without bound; no stack file comes near this."""

TAG = "tag:yaml.org,2002:"
_PLAIN = re.compile(
    r"(?P<null>~|null|Null|NULL|)|(?P<merge><<)|(?P<bool>true|True|TRUE|false|False|FALSE)"
    r"|(?P<int>[-+]?(?:0|[1-9][0-9_]*|0[bB][01_]+|0[oO]?[0-7_]+|0[xX][0-9a-fA-F_]+))"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9][0-9_]*\.?[0-9_]*)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))"
    r"|(?P<timestamp>\d{4}-\d\d?-\d\d?(?:[Tt ].*)?)"
)
_OLD_OCTAL = re.compile(r"^([-+]?)0(?=[0-7]+$)")


class StackLoader(yaml.SafeLoader):
    """A loader whose bools and numbers are those of `pulumi up`; `yes`, `on` and `1:30` are text, and `0o17` is 15."""

    _merged = 0

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: tuple[bool, bool]) -> str:
        if kind is yaml.ScalarNode and implicit[0]:
            match = _PLAIN.fullmatch(value or "")
            return f"{TAG}{match.lastgroup if match else 'str'}"
        return str(super().resolve(kind, value, implicit))  # type: ignore[no-untyped-call]

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Merge the mapping's merge keys in place. Raises YAMLError before that exceeds the bound."""
        super().flatten_mapping(node)
        self._merged += len(node.value)
        if self._merged > MOST_NODES:
            raise yaml.YAMLError("its merges (<<) expand to more than a stack file can hold")

    def number(self, node: yaml.ScalarNode) -> float:
        """Return a number; a whole one is an int, as in the engine's JSON. Raises ValueError."""
        text = node.value.replace("_", "")
        if node.tag == f"{TAG}int":
            return int(_OLD_OCTAL.sub(r"\g<1>0o", text), 0)
        number = float(text)
        if math.isinf(number):
            raise ValueError(text)
        return int(number) if number.is_integer() else number

    def moment(self, node: yaml.ScalarNode) -> str:
        """Return `2027-01-10 00:00:00 +0000 UTC`, the engine's form of a date without quotes. Raises ValueError."""
        parsed: date = self.construct_yaml_timestamp(node)
        if not isinstance(parsed, datetime):
            parsed = datetime(parsed.year, parsed.month, parsed.day, tzinfo=UTC)
        elif parsed.tzinfo is None and " " not in node.value:
            return str(node.value)  # Go's yaml.v3 takes a time without a zone for text, unless a space is before it.
        zone = f"{parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC):%z}"
        return f"{parsed:%Y-%m-%d %H:%M:%S} {zone} {zone if zone != '+0000' else 'UTC'}"


StackLoader.add_constructor(f"{TAG}int", StackLoader.number)
StackLoader.add_constructor(f"{TAG}float", StackLoader.number)
StackLoader.add_constructor(f"{TAG}timestamp", StackLoader.moment)
