"""What the methods of all collections share: who may, which one, and get, list and delete."""

from local.cloud.services import World
from local.cloud.vertex import listing, operations
from local.cloud.vertex.messages import MESSAGES
from local.cloud.vertex.mistakes import Mistake, field_errors
from local.cloud.vertex.names import location_name, region
from local.cloud.vertex.resource_table import Entry, ResourceTable
from local.cloud.wire import Call, Reply, Route, failed_precondition, not_found


class ResourceMethods:
    """Subclasses add create and cancel. The path parameter of one resource is `resource`."""

    def __init__(self, world: World, table: ResourceTable) -> None:
        self.world, self.table = world, table
        self.base = "/{version:v1|v1beta1}/projects/{project}/locations/{location}/" + table.name
        self.one = self.base + "/{resource}"

    def routes(self) -> list[Route]:
        return [
            Route("GET", self.base, self.list),
            Route("GET", self.one, self.get),
            Route("DELETE", self.one, self.delete),
        ]

    def get(self, call: Call) -> Reply:
        location = self.enter(call, "get", "call")
        return self.answer(call, self.find(call, location))

    def list(self, call: Call) -> Reply:
        location = self.enter(call, "list", "call")
        own = self.table
        return listing.listed(self.world, call, location, own.table, own.name, own.kind, own.fields)

    def delete(self, call: Call) -> Reply:
        """Delete one that is over: an operation that is done at once."""
        location = self.enter(call, "delete", "submit")
        with self.world.store.transaction():
            entry = self.find(call, location)
            if entry.work is not None:
                raise failed_precondition(
                    f"The {self.table.kind} {entry.name} is in state {entry.body['state']}; "
                    "only one that has ended can be deleted."
                )
            self.table.remove(self.world.store, entry.name)
            return self.done(call, location_name(location), entry.name)

    def done(self, call: Call, parent: str, target: str) -> Reply:
        """A deletion that is over, as an operation. Within a transaction."""
        version = call.params["version"]
        operation = operations.start(self.world, version, parent, target, "DeleteOperationMetadata", "Empty")
        operations.finish(self.world.store, operation.name, self.world.now())
        return Reply(body=operations.answer(operations.current(self.world.store, operation)))

    def answer(self, call: Call, entry: Entry) -> Reply:
        return Reply(body=MESSAGES.render(call, call.params["version"], self.table.kind, entry.body))

    def enter(self, call: Call, verb: str, rate: str) -> str:
        """Check who asks and how often; the call's region."""
        project, location = call.params["project"], region(call)
        resource = f"//aiplatform.googleapis.com/projects/{project}/locations/{location}"
        if "resource" in call.params:
            resource += f"/{self.table.name}/{call.params['resource']}"
        self.world.access.require(call.principal, f"aiplatform.{self.table.name}.{verb}", project, resource)
        self.world.limits.take(rate, location)
        return location

    def find(self, call: Call, location: str) -> Entry:
        """The resource of a path. Raises 400 for an id that none can have, and 404."""
        resource_id = call.params["resource"]
        if not resource_id.isdigit():
            raise field_errors([Mistake("name", f"Invalid {self.table.kind} resource name.")])
        entry = self.table.get(self.world.store, self.table.full_name(location, resource_id))
        if entry is None:
            raise not_found(f"The {self.table.kind} does not exist.")
        return entry
