"""The origin of a stack's declaration: a stack file, or components in a program of somebody's own.

Rules and findings name a part of it by its key in a stack file. Its origin spells that, and the commands, for whoever
reads of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from slipway.model.identity import Identity, identity_in, words_of

_ARGUMENTS = {
    "encryption.kmsKey": "kms_key",
    "serviceAccount.custom": "custom_service_account",
    "from": "begins",
    "until": "ends",
    "custom": "custom_service_account",
}
"""The arguments of components that are not called like their keys."""
_COMPONENTS = {"persistentResources": "PersistentResource", "templates": "JobTemplate", "quota": "QuotaCheck"}
"""The components of parts of a stack file; a workspace has the others."""
_COMMANDS = {
    "destroy": "SLIPWAY_PURPOSE=destroy pulumi destroy --run-program",
    "select": "pulumi stack select --create",
}
_CAPITAL = re.compile(r"(?<=[a-z0-9])[A-Z]")


LAPTOP = "SLIPWAY_LAPTOP"
"""Set by make with LAPTOP=1, so that the commands that a run prints are for the local cloud as well."""


def _names_again(former: str) -> str:
    return f"give the Pulumi project, the stack and the workspace the names again of {words_of(former)}"


def _is_other_project(before: Identity, label: str) -> bool:
    """Return whether a deployment came from another Pulumi project than that in its label now."""
    now = identity_in(label)
    return now is not None and before.project not in ("", now.project)


@dataclass(frozen=True)
class Origin:
    """A stack file, with the commands of its checkout."""

    #: The engine's stack, after which the file is named.
    stack: str

    noun: ClassVar[str] = "file"
    unit: ClassVar[str] = "stack"
    protects: ClassVar[str] = "`replacement: protect`"
    unprotected: ClassVar[str] = "`replacement: rollover`"

    def called(self, stack: str) -> str:
        """Return a name for the stack, by the one in labels."""
        return stack

    def identity(self, project: str) -> Identity:
        """Return the identity of the deployment in a Pulumi project."""
        return Identity(project, self.stack)

    def whole(self, article: str = "the") -> str:
        """Return words for all that it declares."""
        return f"{article} stack"

    def key(self, key: str) -> str:
        """Return a key of the declaration, such as `slipway:workspace.workBucket`, as people find it."""
        return key

    def argument(self, key: str) -> str:
        """Return a key within a part of the declaration, as people write it."""
        return key

    def place(self, key: str) -> str:
        """Return a key with the file that has it."""
        return f"{self.file}, {key}"

    def assign(self, key: str, value: str | bool) -> str:
        """Return a key with its value, as people write it."""
        return f"{key}: {str(value).lower() if isinstance(value, bool) else value}"

    def written(self, key: str, text: str) -> str:
        """Return a key with its value, which is given as YAML."""
        return self.assign(key, text)

    def setting(self, part: str, key: str, value: str | bool) -> str:
        """Return a key of a part with its value."""
        return f"{part}: {{{self.assign(key, value)}}}"

    @property
    def file(self) -> str:
        return f"stacks/Pulumi.{self.stack}.yaml"

    def back_to(self, former: str, label: str) -> str:
        """Return the way back to the former name of the stack that a label has. `label`: the name that it has now."""
        before = identity_in(former) or Identity("", former)
        file = "" if before.stack == self.stack else f"then call the stack file {Origin(before.stack).file} again"
        if _is_other_project(before, label):
            return self._to_project(before, file)
        if not file:
            return _names_again(former)
        return "\n".join((f"pulumi stack rename {before.stack} --stack {self.stack}", file, self._is_free()))

    def _is_free(self) -> str:
        return f"after that {self.stack} can be a stack of its own"

    def _to_project(self, before: Identity, file: str = "") -> str:
        """Return the way back to a former Pulumi project. `file`: what to do with the stack file first."""
        lines = (
            f"pulumi stack rename organization/{before.project}/{before.stack} --stack {self.stack}",
            "in Pulumi Cloud, write your organization instead of `organization`",
            file,
            f"then write `name: {before.project}` in Pulumi.yaml",
        )
        return "\n".join(filter(None, lines))

    def command(self, verb: str, *flags: str) -> str:
        """Return the command that deploys it (`up`), takes it down and leaves what other stacks need (`destroy`), and
        so on."""
        laptop = ["LAPTOP=1"] if os.environ.get(LAPTOP) else []
        return " ".join((f"make {verb} STACK={self.stack}", *laptop, *(f"ARGS={flag}" for flag in flags)))

    @property
    def up(self) -> str:
        return self.command("up")

    def keep(self, name: str) -> str:
        """Return how a cluster keeps its former name."""
        return "keep the name"


@dataclass(frozen=True)
class Program(Origin):
    """A program of somebody's own, with the engine's commands."""

    #: The name of the component; empty where it has none.
    workspace: str = ""
    #: The names that the program has now for components that keep a former one: `Workspace ml` is `Workspace ground`.
    renamed: Mapping[str, str] | None = field(default=None, hash=False)

    noun: ClassVar[str] = "program"
    unit: ClassVar[str] = "Workspace"
    protects: ClassVar[str] = '`protect=True` or `replacement="protect"`'
    unprotected: ClassVar[str] = '`replacement="rollover"`, no `protect=True`'

    def called(self, stack: str) -> str:
        # The engine does not tell a program that it is run for a destruction.
        name = self._component("Workspace", self.workspace).removeprefix("Workspace").strip()
        return f"`up` of workspace {name}" if name else f"`up` of {stack}"

    def identity(self, project: str) -> Identity:
        return Identity(project, self.stack, self.workspace)

    def whole(self, article: str = "the") -> str:
        return self._component("Workspace", self.workspace) if self.workspace else super().whole(article)

    def _component(self, kind: str, name: str) -> str:
        """Return a component as the program declares it, by the name that it keeps."""
        component = f"{kind} {name}".rstrip()
        return (self.renamed or {}).get(component, component)

    def key(self, key: str) -> str:
        """Return the component, and its argument: `Workspace ml: work_bucket`."""
        part, *path = key.removeprefix("slipway:").split(".")
        if part == "policy":
            return ".".join(("Catalog: policy", *path))
        if part == "persistentResources" and path:
            component = self._component("PersistentResource", path.pop(0))
        elif part in _COMPONENTS:
            component = _COMPONENTS[part]
        else:
            component = self._component("Workspace", self.workspace)
            path = path if part == "workspace" else [part.removeprefix("gcp:"), *path]
        argument = self.argument(".".join(path))
        return f"{component}: {argument}" if argument else component

    def argument(self, key: str) -> str:
        return _ARGUMENTS.get(key) or _CAPITAL.sub(lambda capital: f"_{capital[0].lower()}", key)

    def place(self, key: str) -> str:
        return self.key(key)

    @property
    def file(self) -> str:
        return "the program"

    def assign(self, key: str, value: str | bool) -> str:
        return f"{self.argument(key)}={value!r}"

    def written(self, key: str, text: str) -> str:
        import yaml  # no submission needs it

        return f"{self.argument(key)}={yaml.safe_load(text)!r}"

    def setting(self, part: str, key: str, value: str | bool) -> str:
        return f"{self.assign(key, value)} of {self.key(part)}"

    def back_to(self, former: str, label: str) -> str:
        before = identity_in(former)
        if before is None:
            return _names_again(former)
        if _is_other_project(before, label):
            return self._to_project(before)
        if before.stack != self.stack:
            return "\n".join(
                (
                    f"pulumi stack rename {before.stack} --stack {self.stack}",
                    f"then it is {words_of(former)} again",
                    self._is_free(),
                )
            )
        name = before.workspace or "workspace"
        return f'`aliases=[pulumi.Alias(name="{name}")]` of {self.whole()}, or its former name again'

    def keep(self, name: str) -> str:
        return f'keep the name, or the cluster by `aliases=[pulumi.Alias(name="{name}")]`'

    def command(self, verb: str, *flags: str) -> str:
        return " ".join((_COMMANDS.get(verb, f"pulumi {verb}"), *flags, "--stack", self.stack))
