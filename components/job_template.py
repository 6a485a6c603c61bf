"""A job template: compiled, proven against the clusters that it may run on, and its code uploaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi

from slipway.authoring.template.declaration import file_of
from slipway.model.facts import NAMED, TEMPLATE

from .args import told
from .component import Component
from .entries import ArgumentError, refuse_other
from .gcp import storage
from .group import Group
from .keywords import arguments_of
from .persistent_resource import PersistentResource
from .workspace import Workspace

_PACKAGES = Path(".slipway/packages")
"""The folder of archives: a relative one, as the state keeps the path, and checkouts differ."""


@told
@dataclass(kw_only=True)
class JobTemplateArgs:
    """Arguments of `JobTemplate`."""

    template: str | None = None
    """Path of the template's file, below the program's folder; templates/NAME.py by default."""
    clusters: Sequence[PersistentResource] | None = None
    """Clusters that it may run on; all of the workspace by default. Running jobs stay where they are."""
    workspace: Workspace | None = None
    """The workspace, where the program has several and no cluster tells it."""


class JobTemplate(Component):
    """A template that people submit by its name, where a `Catalog` lists it.

    Its packages are named by hashes of their contents. They stay in the bucket when the template changes or goes:
    queued and restarting jobs still install them.
    """

    kind = "template"
    args: JobTemplateArgs
    #: The addresses of the packages, as a job's `packageUris` have them; none without a workspace, or for plain images.
    packages: pulumi.Output[list[str]]

    def __init__(
        self,
        name: str,
        args: JobTemplateArgs | pulumi.ResourceOptions | None = None,
        opts: pulumi.ResourceOptions | None = None,
        **arguments: Any,
    ) -> None:
        """Declare a template. Raises ConfigError for a file that no template can have.

        `arguments`: those of `JobTemplateArgs` as keywords, in place of `args`.
        """
        given, opts = arguments_of(JobTemplateArgs, name, args, opts, arguments)
        refuse_other(type(self), name, given)
        if isinstance(given.template, pulumi.Output):
            raise ArgumentError(
                f"JobTemplate {name}: template: an Output can't be its file's path",
                fix="a text: the file is read before Outputs are known",
            )
        path = Path(given.template) if given.template else self.folder / file_of(name)
        if path.suffix != ".py":
            raise ArgumentError(
                f"JobTemplate {name}: {path} is no file of Python", fix=f"{self.folder / file_of(name)}"
            )
        self.template, self.folder = path.stem.replace("_", "-"), path.parent
        super().__init__(TEMPLATE, name, given, opts, "packages", "package")
        self.packages = self.output("packages")

    async def facts(self, group: Group) -> Mapping[str, Any]:
        facts = (await group.as_made()).facts.templates.get(self.template, {})
        return facts if self.template == self.name else {**facts, NAMED: self.template}

    async def declare(self, group: Group) -> Mapping[str, Any]:
        made, workspace = await group.as_made(), group.workspace
        packages = list[pulumi.Output[str]]()
        # Several variants of a template may run the same code.
        built = {package.path: package for package in made.packages.get(self.template, {}).values()}
        for package in built.values():
            if workspace is None:  # proven alone
                break
            bucket = workspace.catalog_bucket
            packages.append(pulumi.Output.concat("gs://", bucket, "/", package.path))
            storage.BucketObject(
                group.child(workspace, package.name.removesuffix(".tar.gz").removesuffix(".pyz")),
                bucket=bucket,
                name=package.path,
                source=pulumi.FileAsset(str(package.save(_PACKAGES))),
                content_type="application/gzip" if package.name.endswith(".gz") else "application/zip",
                # Nothing is deleted, so an earlier package may go from a protected template.
                opts=pulumi.ResourceOptions(parent=self, retain_on_delete=True, protect=False),
            )
        return {"packages": packages, "package": made.facts.templates.get(self.template, {}).get("package")}
