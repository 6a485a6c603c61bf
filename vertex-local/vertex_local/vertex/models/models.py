"""The methods of models."""

from collections.abc import Sequence

from ... import document_filters, documents, filter_fields
from ...filter_fields import FilterFields
from ...wire import Call, Reply, Route, aborted, failed_precondition
from ...world import World
from .. import accounts
from ..collection import Collection
from ..field_errors import Mistake, field_errors, refuse
from ..messages import MESSAGES
from ..names import id_of, location_name
from . import records, registration, rules
from .records import DEFAULT, KIND, Model
from .registration import UnusableError

_UPDATABLE = ("displayName", "description", "labels", "versionDescription", "explanationSpec")
_VERSION_TIMES = filter_fields.of_tree({"createTime": "time", "updateTime": "time"})
_INVALID_ARGUMENT = 3


class Models(Collection):
    def __init__(self, world: World) -> None:
        super().__init__(world, KIND)

    def routes(self) -> list[Route]:
        return [
            *super().routes(),
            Route("POST", self.kind.base + ":upload", self.upload),
            Route("GET", self.kind.each + ":listVersions", self.list_versions),
            Route("DELETE", self.kind.each + ":deleteVersion", self.delete_version),
            Route("POST", self.kind.each + ":mergeVersionAliases", self.merge_version_aliases),
        ]

    def upload(self, call: Call) -> Reply:
        """Return an operation that is done at once, with the new version's name or the error in its files."""
        location = self.enter(call, "upload", "submit")
        body = MESSAGES.parse(call.params["version"], "UploadModelRequest", call.object())
        model = registration.declared(body.get("model", {}))
        model_id = body.get("modelId", "")
        refuse([*rules.upload_mistakes(model, location), *rules.id_mistakes("model_id", model_id)])
        if body.get("serviceAccount"):
            accounts.check(self.world, call.principal, body["serviceAccount"])
        with self.world.store.transaction():
            try:
                parent_model = body.get("parentModel", "")
                made = registration.upload(self.world, location, model, model_id=model_id, parent=parent_model)
                result, error = {"model": made["name"], "modelVersionId": made["versionId"]}, None
            except UnusableError as unusable:
                result, error = {}, {"code": _INVALID_ARGUMENT, "message": str(unusable)}
            parent = result.get("model", location_name(self.world.project, location))
            metadata, response = "UploadModelOperationMetadata", "UploadModelResponse"
            return self.done(call, parent, metadata, response, parent, result=result, error=error)

    def list(self, call: Call) -> Reply:
        """Return the default versions, the newest models first."""
        location = self.enter(call, "list")
        test = document_filters.parsed(call.query.get("filter", ""), self._fields_and_id(call))
        bodies = [body for body in records.every(self.world, location) if test({**body, "model": id_of(body["name"])})]
        return self.listed(call, documents.sliced(self.in_order(call, reversed(bodies))))

    def get(self, call: Call) -> Reply:
        location = self.enter(call, "get", "call")
        return self.shown(call, self._version(call, location))

    def patch(self, call: Call) -> Reply:
        location = self.enter(call, "update", "call")
        sent = self.sent(call)
        fields = _masked(call)
        with self.world.store.transaction():
            version = self._version(call, location)
            if sent.get("etag", version["etag"]) != version["etag"]:
                raise aborted("The Model's etag is not the current one: it was changed meanwhile.")
            changed = documents.merged(version, sent, fields)
            refuse(rules.mistakes(changed, location))
            return self.shown(call, records.change(self.world, changed))

    def delete(self, call: Call) -> Reply:
        location = self.enter(call, "delete", "submit")
        with self.world.store.transaction():
            name = self._version(call, location)["name"]
            records.remove(self.world, name)
            return self.done(call, name)

    def delete_version(self, call: Call) -> Reply:
        location = self.enter(call, "delete", "submit")
        if "@" not in call.params["resource"]:
            raise field_errors([Mistake("name", "The name of a model version is required: …/models/MODEL@VERSION.")])
        with self.world.store.transaction():
            version = self._version(call, location)
            if len(records.versions(self.world, version["name"])) == 1:
                raise failed_precondition("The only version of a Model can't be deleted; delete the Model instead.")
            if DEFAULT in version["versionAliases"]:
                raise failed_precondition("The default version can't be deleted; make another one the default first.")
            records.remove_version(self.world, version)
            return self.done(call, version["name"])

    def list_versions(self, call: Call) -> Reply:
        """Return the versions of a model, with the version's id in each name."""
        location = self.enter(call, "list", "call")
        test = document_filters.parsed(call.query.get("filter", ""), self.fields(call))
        name = self._version(call, location)["name"]
        versions = [version for version in records.versions(self.world, name) if test(version)]
        # A version's times have names of their own in its body.
        keys = [
            {"createTime": version["versionCreateTime"], "updateTime": version["versionUpdateTime"], "version": version}
            for version in versions
        ]
        keys = documents.in_order(keys, call.query.get("orderBy", ""), _VERSION_TIMES)
        named = [{**key["version"], "name": f"{name}@{key['version']['versionId']}"} for key in keys]
        return self.listed(call, documents.sliced(named))

    def merge_version_aliases(self, call: Call) -> Reply:
        location = self.enter(call, "update", "call")
        body = MESSAGES.parse(call.params["version"], "MergeVersionAliasesRequest", call.object())
        aliases = body.get("versionAliases", [])
        if not aliases:
            raise field_errors([Mistake("version_aliases", "At least one alias is required.")])
        refuse(rules.alias_mistakes("version_aliases", aliases))
        with self.world.store.transaction():
            version = self._version(call, location)
            changed = records.give_aliases(self.world, version["name"], version["versionId"], aliases)
            return self.shown(call, changed)

    def _fields_and_id(self, call: Call) -> FilterFields:
        """Return the fields that a filter may name: those of a model, and `model`, its id."""
        return filter_fields.beside(self.fields(call), filter_fields.of_tree({"model": "text"}))

    def _version(self, call: Call, location: str) -> Model:
        """Return the version that a path names, by id or alias, or the model's default one. Raises 404."""
        model_id, _, reference = call.params["resource"].partition("@")
        return records.find(self.world, records.full_name(self.world, location, model_id), reference)


def _masked(call: Call) -> Sequence[str]:
    fields = documents.masked(call)
    if not fields:
        raise field_errors([Mistake("update_mask", "The update mask is required.")])
    for field in fields:
        if field not in _UPDATABLE:
            raise field_errors([Mistake("update_mask", f"The field {field} can't be updated.")])
    return fields
