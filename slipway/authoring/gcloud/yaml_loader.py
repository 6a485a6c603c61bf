"""YAML as gcloud reads job files: of version 1.1, where `yes` is true and `1:30` a number, with JSON's escapes."""

from __future__ import annotations

from typing import Any

import yaml

from slipway.authoring.stack.yaml_loader import TAG, StackLoader


class JobFileLoader(StackLoader):
    """A loader whose scalars are gcloud's. Words that gcloud does not read as texts are not texts here either, so that
    each argument says what it says there."""

    yaml_constructors = {**yaml.SafeLoader.yaml_constructors}  # noqa: RUF012 - PyYAML's own attribute

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: tuple[bool, bool]) -> str:
        return str(yaml.SafeLoader.resolve(self, kind, value, implicit))  # type: ignore[no-untyped-call]

    def text(self, node: yaml.ScalarNode) -> Any:
        """Return a text, in which two escapes, as JSON has them, may be the halves of one character."""
        return self.construct_scalar(node).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


JobFileLoader.add_constructor(f"{TAG}str", JobFileLoader.text)
