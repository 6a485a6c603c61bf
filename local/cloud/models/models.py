"""The methods of models."""

import re

from local.cloud import filtering
from local.cloud.models import model_rules, registry, uploading
from local.cloud.models.registry import DEFAULT, MODELS, Model
from local.cloud.models.uploading import UnusableError
from local.cloud.services import World
from local.cloud.vertex import operations
from local.cloud.vertex.messages import MESSAGES
from local.cloud.vertex.mistakes import Mistake, field_errors, refuse
from local.cloud.vertex.names import location_name
from local.cloud.vertex.resource_methods import ResourceMethods
from local.cloud.wire import Call, Reply, Route, aborted, failed_precondition, invalid_argument

_UPDATABLE = ("displayName", "description", "labels", "versionDescription", "explanationSpec")
_MAX_PAGE = 1000
_INVALID_ARGUMENT = 3


class Models(ResourceMethods):
    def __init__(self, world: World) -> None:
        super().__init__(world, MODELS)
        MODELS.open_table(world.store)

    def routes(self) -> list[Route]:
        return [
            *super().routes(),
            Route("POST", self.base + ":upload", self.upload),
            Route("PATCH", self.one, self.patch),
            Route("GET", self.one + ":listVersions", self.list_versions),
            Route("DELETE", self.one + ":deleteVersion", self.delete_version),
            Route("POST", self.one + ":mergeVersionAliases", self.merge_version_aliases),
        ]

    def upload(self, call: Call) -> Reply:
        """An operation that is done at once: with the new version's name, or with what is wrong with its files."""
        location = self.enter(call, "upload", "submit")
        body = MESSAGES.parse(call.params["version"], "UploadModelRequest", call.object())
        model = uploading.declared(body.get("model", {}))
        model_id = body.get("modelId", "")
        refuse([*model_rules.mistakes(model), *model_rules.id_mistakes("model_id", model_id)])
        with self.world.store.transaction():
            try:
                parent_model = body.get("parentModel", "")
                made = uploading.upload(self.world, location, model, model_id=model_id, parent=parent_model)
                result, error = {"model": made["name"], "modelVersionId": made["versionId"]}, None
            except UnusableError as unusable:
                result, error = {}, {"code": _INVALID_ARGUMENT, "message": str(unusable)}
            parent = result.get("model", location_name(location))
            operation = operations.start(
                self.world,
                call.params["version"],
                parent,
                parent,
                "UploadModelOperationMetadata",
                "UploadModelResponse",
                result=result,
            )
            operations.finish(self.world.store, operation.name, self.world.now(), error=error)
        return Reply(body=operations.answer(operations.current(self.world.store, operation)))

    def get(self, call: Call) -> Reply:
        location = self.enter(call, "get", "call")
        return self._show(call, self._version(call, location))

    def patch(self, call: Call) -> Reply:
        location = self.enter(call, "update", "call")
        sent = MESSAGES.parse(call.params["version"], MODELS.kind, call.object())
        fields = _masked(call)
        with self.world.store.transaction():
            version = self._version(call, location)
            if sent.get("etag", version["etag"]) != version["etag"]:
                raise aborted("The Model's etag is not the current one: it was changed meanwhile.")
            kept = {key: value for key, value in version.items() if key not in fields}
            changed = {**kept, **{key: sent[key] for key in fields if key in sent}}
            refuse(model_rules.mistakes(changed))
            return self._show(call, registry.change(self.world, changed))

    def delete(self, call: Call) -> Reply:
        location = self.enter(call, "delete", "submit")
        with self.world.store.transaction():
            name = self._version(call, location)["name"]
            registry.remove(self.world, name)
            return self.done(call, location_name(location), name)

    def delete_version(self, call: Call) -> Reply:
        location = self.enter(call, "delete", "submit")
        if "@" not in call.params["resource"]:
            raise field_errors([Mistake("name", "The name of a model version is required: …/models/MODEL@VERSION.")])
        with self.world.store.transaction():
            version = self._version(call, location)
            if len(registry.versions(self.world, version["name"])) == 1:
                raise failed_precondition("The only version of a Model can't be deleted; delete the Model instead.")
            if DEFAULT in version["versionAliases"]:
                raise failed_precondition("The default version can't be deleted; make another one the default first.")
            registry.remove_version(self.world, version)
            return self.done(call, location_name(location), version["name"])

    def list_versions(self, call: Call) -> Reply:
        """The versions of a model, with the version's id in each name."""
        location = self.enter(call, "list", "call")
        test = filtering.parsed(call.query.get("filter", ""))
        name = self._version(call, location)["name"]
        found = [version for version in registry.versions(self.world, name) if test(version)]
        _sort(found, call.query.get("orderBy", ""))
        start, size = _page(call)
        mask = call.query.get("readMask") or call.query.get("read_mask") or ""
        shown = [
            MESSAGES.render(call, call.params["version"], MODELS.kind, _named(version), mask)
            for version in found[start : start + size]
        ]
        more = {"nextPageToken": str(start + size)} if len(found) > start + size else {}
        return Reply(body={"models": shown} | more)

    def merge_version_aliases(self, call: Call) -> Reply:
        location = self.enter(call, "update", "call")
        body = MESSAGES.parse(call.params["version"], "MergeVersionAliasesRequest", call.object())
        aliases = body.get("versionAliases", [])
        refuse(model_rules.alias_mistakes("version_aliases", aliases))
        with self.world.store.transaction():
            version = self._version(call, location)
            changed = registry.give_aliases(self.world, version["name"], version["versionId"], aliases)
            return self._show(call, changed)

    def _version(self, call: Call, location: str) -> Model:
        """The version that a path names, by id or alias, or the model's default one. Raises 404."""
        model_id, _, reference = call.params["resource"].partition("@")
        return registry.find(self.world, MODELS.full_name(location, model_id), reference)

    def _show(self, call: Call, version: Model) -> Reply:
        return Reply(body=MESSAGES.render(call, call.params["version"], MODELS.kind, version))


def _named(version: Model) -> Model:
    return {**version, "name": f"{version['name']}@{version['versionId']}"}


def _masked(call: Call) -> list[str]:
    text = call.query.get("updateMask") or call.query.get("update_mask") or ""
    fields = [re.sub(r"_([a-z])", lambda hit: hit[1].upper(), part.strip()) for part in text.split(",") if part.strip()]
    if not fields:
        raise field_errors([Mistake("update_mask", "The update mask is required.")])
    for field in fields:
        if field not in _UPDATABLE:
            raise field_errors([Mistake("update_mask", f"The field {field} can't be updated.")])
    return fields


def _sort(versions: list[Model], order: str) -> None:
    for part in reversed([part.split() for part in order.split(",") if part.strip()]):
        key = {"create_time": "versionCreateTime", "update_time": "versionUpdateTime"}.get(part[0])
        if key is None or part[1:] not in ([], ["asc"], ["desc"]):
            raise invalid_argument(f"Invalid order by: {order}; known are create_time, update_time.")
        versions.sort(key=lambda version, key=key: version[key], reverse=part[1:] == ["desc"])  # type: ignore[misc]


def _page(call: Call) -> tuple[int, int]:
    token = call.query.get("pageToken", "")
    if token and not token.isdigit():
        raise invalid_argument("Invalid page token.")
    return int(token or 0), max(1, min(call.integer("pageSize", 100) or 100, _MAX_PAGE))
