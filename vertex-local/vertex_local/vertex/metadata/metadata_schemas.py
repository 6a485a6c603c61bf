"""The methods of metadata schemas: the service's own, which every store has, and those that clients register. No
metadata is checked against one."""

import re
from collections.abc import Mapping, Sequence

import yaml

from ...documents import Body
from ...filter_fields import FilterField, FilterFields
from ...wire import Call, Reply, already_exists, invalid_argument
from ...world import World
from ..collection import Documents
from .kinds import SCHEMA
from .metadata_stores import check, used

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,127}")
_TITLE = re.compile(r"[a-z][a-z0-9-_]{2,20}[.][A-Z][a-zA-Z0-9-_]{2,49}")
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_USUAL_VERSION = "0.0.1"
_PREDEFINED: Mapping[str, Sequence[str]] = {
    "ARTIFACT_TYPE": (
        *("system.Artifact", "system.ClassificationMetrics", "system.Dataset", "system.HTML", "system.Markdown"),
        *("system.Metrics", "system.Model", "system.SlicedClassificationMetrics", "google.BQMLModel", "google.BQTable"),
        *("google.ClassificationMetrics", "google.ExperimentModel", "google.ForecastingMetrics"),
        *("google.RegressionMetrics", "google.UnmanagedContainerModel", "google.VertexBatchPredictionJob"),
        *("google.VertexDataset", "google.VertexEndpoint", "google.VertexModel", "google.VertexTensorboardRun"),
    ),
    "EXECUTION_TYPE": (
        *("system.ContainerExecution", "system.CustomJobExecution", "system.DagExecution", "system.ImporterExecution"),
        *("system.ResolverExecution", "system.Run"),
    ),
    "CONTEXT_TYPE": ("system.Experiment", "system.ExperimentRun", "system.Pipeline", "system.PipelineRun"),
}
"""The titles of the service's own schemas by type: those of its page on them, of the SDK and of its pipeline
components; it has more."""


class MetadataSchemas(Documents):
    def __init__(self, world: World) -> None:
        super().__init__(world, SCHEMA)

    def list(self, call: Call) -> Reply:
        self.enter(call, "list")
        check(self.world, self.parent(call))
        return self.listed_below(call, self.parent(call))

    def create(self, call: Call) -> Reply:
        self.enter(call, "create")
        body = self.parsed(call)
        title = _checked(body)
        with self.world.store.transaction():
            parent = self.parent(call)
            used(self.world, parent)
            schema_id = call.query.get("metadataSchemaId") or str(self.world.store.next_id("metadataSchema"))
            if not _ID.fullmatch(schema_id):
                raise invalid_argument(f'Invalid metadata schema id "{schema_id}".')
            name = self.name(parent, schema_id)
            if self.look(name):
                raise already_exists(f"The MetadataSchema {name} already exists.")
            if self.registered(parent, title, body.get("schemaVersion", _USUAL_VERSION)):
                raise already_exists(f"A MetadataSchema with the title {title} and this version exists in {parent}.")
            made = self.add(name, body)
        return self.shown(call, made)

    def look(self, name: str) -> Body | None:
        own = (body for body in self._predefined(name.rpartition("/metadataSchemas/")[0]) if body["name"] == name)
        return super().look(name) or next(own, None)

    def below(self, parent: str) -> Sequence[Body]:
        found = [*self._predefined(parent), *super().below(f"{parent}/metadataSchemas")]
        return [{**body, "schemaTitle": _title(body["schema"])} for body in found]

    def fields(self, call: Call) -> FilterFields:
        """Return the fields of a schema, and its title, which filters find it by."""
        known, title = super().fields(call), FilterField(("schemaTitle",), "text")
        return lambda path: title if [*path] in (["schema_title"], ["schemaTitle"]) else known(path)

    def registered(self, parent: str, title: str, version: str) -> bool:
        """Return whether a store has a schema with this title and version ("" for any)."""
        if version in ("", _USUAL_VERSION) and any(title in titles for titles in _PREDEFINED.values()):
            return True
        return any(
            _title(body["schema"]) == title and version in ("", body.get("schemaVersion", _USUAL_VERSION))
            for body in super().below(f"{parent}/metadataSchemas")
        )

    def _predefined(self, parent: str) -> Sequence[Body]:
        project = self.world.store.get("project", self.world.project.id) or {}
        return [
            {
                "name": self.name(parent, _id_of(title)),
                "schemaVersion": _USUAL_VERSION,
                "schema": f"title: {title}\ntype: object\n",
                "schemaType": kind,
                "createTime": project["createTime"],
            }
            for kind, titles in _PREDEFINED.items()
            for title in titles
        ]


def _id_of(title: str) -> str:
    """Return the id of a schema of the service's own: `system-custom-job-execution-v0-0-1`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", title).lower()
    return f"{words}-v{_USUAL_VERSION}".replace(".", "-")


def _checked(body: Body) -> str:
    """Return the title of a schema that is to be registered. Raises 400."""
    schema, title = _document(body.get("schema", "")), _title(body.get("schema", ""))
    if not body.get("schema"):
        raise invalid_argument("The schema is required: an OpenAPI schema object in YAML.")
    if not _TITLE.fullmatch(title):
        pattern = f"^{_TITLE.pattern}$"
        raise invalid_argument(
            f"MetadataSchema must include a schema title that satisfies the following regex: {pattern}"
        )
    if schema.get("type") != "object":
        raise invalid_argument("The type of a MetadataSchema must be object.")
    if body.get("schemaVersion") and not _VERSION.fullmatch(body["schemaVersion"]):
        raise invalid_argument(f'Invalid schema version "{body["schemaVersion"]}": three numbers with dots are needed.')
    return title


def _document(text: str) -> Body:
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise invalid_argument(f"The schema can't be read as YAML: {error}") from error
    return found if isinstance(found, dict) else {}


def _title(text: str) -> str:
    return str(_document(text).get("title", ""))
