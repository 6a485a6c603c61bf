"""The IAM policy of a bucket."""

from typing import Any

from ..access import policies
from ..wire import ApiError, Call, Reply, Route
from ..world import World
from . import errors
from .guard import Guard, checked
from .records import Records


class BucketPolicy:
    def __init__(self, world: World, records: Records, guard: Guard) -> None:
        self._policies, self._records, self._guard = world.policies, records, guard

    def routes(self) -> list[Route]:
        base = "/storage/v1/b/{bucket:any}/iam"
        return [
            Route("GET", base, self.get),
            Route("PUT", base, self.set),
            Route("GET", base + "/testPermissions", self.test),
        ]

    def get(self, call: Call) -> Reply:
        name = self._records.bucket(call.params["bucket"])["name"]
        self._guard.bucket(call, "storage.buckets.getIamPolicy", name)
        return Reply(body=_shown(name, self._policies.get(policies.bucket_name(name))))

    def set(self, call: Call) -> Reply:
        name = self._records.bucket(call.params["bucket"])["name"]
        self._guard.bucket(call, "storage.buckets.setIamPolicy", name)
        try:
            policy = self._policies.set(policies.bucket_name(name), checked(call, "Policy"), errors.condition_not_met)
        except ApiError as problem:
            if problem.code == 400 and problem.reason is None:
                raise errors.invalid(problem.message) from problem
            raise
        return Reply(body=_shown(name, policy))

    def test(self, call: Call) -> Reply:
        name = self._records.bucket(call.params["bucket"])["name"]
        held = self._guard.tested(call, list(call.values("permissions")), name)
        answer: dict[str, Any] = {"kind": "storage#testIamPermissionsResponse"}
        return Reply(body={**answer, "permissions": held} if held else answer)


def _shown(bucket: str, policy: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "storage#policy", "resourceId": f"projects/_/buckets/{bucket}", **policy}
