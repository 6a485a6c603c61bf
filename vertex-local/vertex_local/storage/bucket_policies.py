"""The IAM policy of a bucket."""

from typing import Any

from ..access import policies
from ..access.policy_rules import PUBLIC
from ..wire import Call, Reply, Route
from ..world import World
from . import errors
from .guard import Guard, checked
from .records import Records, is_private

_MOST_PERMISSIONS = 84


class BucketPolicy:
    def __init__(self, world: World, records: Records, guard: Guard) -> None:
        self._world, self._policies, self._records, self._guard = world, world.policies, records, guard

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
        with errors.shaped():
            policies.check_version(call.integer("optionsRequestedPolicyVersion"))
        return Reply(body=_shown(name, self._policies.get(policies.bucket_name(name))))

    def set(self, call: Call) -> Reply:
        bucket = self._records.bucket(call.params["bucket"])
        name = bucket["name"]
        self._guard.bucket(call, "storage.buckets.setIamPolicy", name)
        sent = checked(call, "Policy")
        members = {member for binding in sent.get("bindings", []) for member in binding.get("members", [])}
        private = is_private(bucket) or self._world.settings.policy.get("storage.publicAccessPrevention")
        if private and members & PUBLIC:
            raise errors.not_public()
        with errors.shaped():
            policy = self._policies.set(policies.bucket_name(name), sent, errors.condition_not_met)
        return Reply(body=_shown(name, policy))

    def test(self, call: Call) -> Reply:
        name = self._records.bucket(call.params["bucket"])["name"]
        asked = list(call.values("permissions"))
        if not asked:
            raise errors.required("permissions")
        if len(asked) > _MOST_PERMISSIONS or len(asked) > len(set(asked)):
            raise errors.invalid(f"At most {_MOST_PERMISSIONS} permissions can be tested, each of them once.")
        with errors.shaped():
            held = self._guard.tested(call, asked, name)
        answer: dict[str, Any] = {"kind": "storage#testIamPermissionsResponse"}
        return Reply(body={**answer, "permissions": held} if held else answer)


def _shown(bucket: str, policy: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "storage#policy", "resourceId": f"projects/_/buckets/{bucket}", **policy}
