"""The methods of quota preferences, which are asked for, granted, and never deleted (vertex-rules 6.3)."""

import hashlib
import re
import uuid
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from .. import document_filters, documents, filter_fields, identities
from ..clock import timestamp
from ..supply import machines
from ..wire import Call, Reply, Route, aborted, already_exists, failed_precondition, invalid_argument, not_found
from ..world import World
from . import limits, records
from .metrics import SERVICE, UNLIMITED, Quota, table
from .records import MESSAGES, PREFERENCES, Preference

_BASE = "/{version:v1|v1beta}/projects/{project}/locations/global/quotaPreferences"
_ID = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._~+-]*")
_EMAIL = re.compile(r"(?=.{3,254}$)[^\s@,;<>]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
"""The form and the lengths that mail has (RFC 5321)."""
_BELOW_USAGE, _TOO_HIGH = "QUOTA_DECREASE_BELOW_USAGE", "QUOTA_DECREASE_PERCENTAGE_TOO_HIGH"
_SAFE_DECREASE = 0.10
_IMMUTABLE = ("dimensions", "service", "quotaId", "name")
_MUTABLE = ("quotaConfig", "justification", "contactEmail", "etag", "createTime", "updateTime", "reconciling")
_TEXTS = ("name", "service", "quotaId", "etag", "justification", "contactEmail")
_FIELDS = filter_fields.of_tree(
    {
        **dict.fromkeys(_TEXTS, "text"),
        **dict.fromkeys(("createTime", "updateTime", "creationTime"), "time"),
        "dimensions": {},
        "quotaConfig": {"preferredValue": "number", "grantedValue": "number", "stateDetail": "text"},
        "reconciling": "flag",
        "requestType": frozenset({"CLOUD_CONSOLE", "AUTO_ADJUSTER"}),
    },
    zoned=False,
)


class QuotaPreferences:
    def __init__(self, world: World) -> None:
        self._world = world
        self._parent = f"projects/{world.project.number}/locations/global/quotaPreferences"

    def routes(self) -> list[Route]:
        path = _BASE + "/{preference}"
        return [
            Route("POST", _BASE, self.create),
            Route("GET", _BASE, self.list),
            Route("GET", path, self.get),
            Route("PATCH", path, self.patch),
        ]

    def create(self, call: Call) -> Reply:
        self._require(call, "update", "CreateQuotaPreferenceRequest")
        body = self._body(call)
        name = call.query.get("quotaPreferenceId") or body.get("name", "").rpartition("/")[2] or uuid.uuid4().hex
        if not _ID.fullmatch(name):
            raise invalid_argument(f'Invalid quota preference id "{name}".')
        with self._world.store.transaction():
            if PREFERENCES.get(self._world.store, f"{self._parent}/{name}"):
                raise already_exists(f"Quota preference {self._parent}/{name} already exists.")
            made = self._created(call, f"{self._parent}/{name}", body)
            PREFERENCES.put(self._world.store, made)
        return self._answer(call, made)

    def get(self, call: Call) -> Reply:
        self._require(call, "get", "GetQuotaPreferenceRequest")
        return self._answer(call, self._find(call))

    def list(self, call: Call) -> Reply:
        self._require(call, "get", "ListQuotaPreferencesRequest")
        version, now = call.params["version"], self._world.clock.now()
        test = document_filters.parsed(call.query.get("filter", ""), _FIELDS)
        every = (records.answer(item, now) for item in PREFERENCES.every(self._world.store))
        # The reference's own examples have other names for two fields.
        preferences = [body for body in every if test({**body, "creationTime": body["createTime"]})]
        preferences = documents.in_order(preferences, call.query.get("orderBy", ""), _FIELDS)
        return documents.listed(
            call,
            "quotaPreferences",
            documents.sliced(preferences),
            lambda body: MESSAGES.render(version, "QuotaPreference", body),
        )

    def patch(self, call: Call) -> Reply:
        self._require(call, "update", "UpdateQuotaPreferenceRequest")
        body = self._body(call)
        masked = {path.partition(".")[0] for path in documents.masked(call)}
        if unknown := masked.difference(_IMMUTABLE, _MUTABLE):
            raise invalid_argument(f"Invalid field mask: {', '.join(unknown)}")
        name = f"{self._parent}/{call.params['preference']}"
        with self._world.store.transaction():
            preference = PREFERENCES.get(self._world.store, name)
            if preference is None:
                if not call.flag("allowMissing"):
                    raise not_found(f"Quota preference {name} not found.")
                changed = self._created(call, name, body)
            else:
                changed = self._changed(call, preference, body, masked)
            if not call.flag("validateOnly"):
                PREFERENCES.put(self._world.store, changed)
        return self._answer(call, changed)

    def _created(self, call: Call, name: str, body: Mapping[str, Any]) -> Preference:
        quota = _quota(body)
        dimensions = dict(body.get("dimensions", {}))
        for key, value in dimensions.items():
            if key != "region":
                raise invalid_argument(f"Dimension {key} can't be set on quota {quota.quota_id}.")
            if value not in machines.table().all_regions:
                raise invalid_argument(f'Quota {quota.quota_id} has no value for region "{value}".')
        for other in PREFERENCES.every(self._world.store):
            if (other.quota_id, dict(other.dimensions)) == (quota.quota_id, dimensions):
                raise already_exists(f"Quota preference {other.name} is for the same quota and dimensions.")
        now = self._world.now()
        made = Preference(name, SERVICE, quota.quota_id, dimensions, 0, now, now, "")
        return self._decided(call, made, quota, body)

    def _changed(self, call: Call, old: Preference, body: Mapping[str, Any], masked: Collection[str]) -> Preference:
        if body.get("etag") and body["etag"] != old.etag:
            raise aborted("The etag does not match the quota preference's current one.")
        for name in masked:
            if name in _IMMUTABLE:
                raise invalid_argument(f"Field {name} is immutable.")
        kept = {"dimensions": dict(old.dimensions), "service": old.service, "quotaId": old.quota_id}
        for name, value in kept.items():
            if body.get(name) and body[name] != value:
                raise invalid_argument(f"Field {name} is immutable.")
        if masked:
            body = {"quotaConfig": {"preferredValue": old.preferred}} | {
                name: value for name, value in body.items() if name in masked
            }
        quota = table().by_id(old.quota_id)
        assert quota is not None
        return self._decided(call, old, quota, body)

    def _decided(self, call: Call, item: Preference, quota: Quota, body: Mapping[str, Any]) -> Preference:
        """Return the preference with its new value, and the value that the service will grant."""
        preferred = int(body.get("quotaConfig", {}).get("preferredValue", 0))
        if preferred < UNLIMITED:
            raise invalid_argument("The preferred value must be at least -1.")
        now, settings = self._world.clock.now(), self._world.settings
        if quota.metric in settings.quota_fixed.split():
            raise invalid_argument(
                f"Could not change quota value because 'is_fixed' field is set for quota id '{quota.quota_id}'."
            )
        region = item.dimensions.get("region")
        present = limits.limit(self._world, quota, region or identities.REGION, limits.granted(self._world))
        increase = present != UNLIMITED and (preferred == UNLIMITED or preferred > present)
        contact = body.get("contactEmail") or item.contact_email
        if increase and not contact:
            raise invalid_argument("The contact email is required for a quota increase.")
        if contact and not _EMAIL.fullmatch(contact):
            raise invalid_argument(f'The contact email "{contact}" is not an email address.')
        if not increase:
            self._check_decrease(call, quota, region, present, preferred)
        granted, detail = self._granted(present, preferred) if increase else (preferred, "")
        update_time = timestamp(now)
        made = replace(
            item,
            preferred=preferred,
            before=records.effective(item, now) if item.etag else None,
            granted=granted,
            due=timestamp(now + timedelta(seconds=settings.delay(settings.quota_reconcile_seconds))),
            state_detail=detail,
            trace_id=uuid.uuid4().hex if increase else "",
            justification=body.get("justification", item.justification),
            contact_email=contact,
            annotations=body.get("quotaConfig", {}).get("annotations", dict(item.annotations)),
            update_time=update_time,
        )
        return replace(made, etag=hashlib.sha256(f"{made}{update_time}".encode()).hexdigest()[:22])

    def _granted(self, present: int, preferred: int) -> tuple[int, str]:
        """Return the value that an increase will get, and why it is not the one asked for."""
        reason, ceiling = self._world.settings.quota_ineligible, self._world.settings.quota_grant_ceiling
        if reason:
            return present, f"The request was denied: {reason}."
        if ceiling < 0 or 0 <= preferred <= ceiling:
            return preferred, ""
        if ceiling <= present:
            return present, "The request was denied."
        return ceiling, f"The request was partially approved: {ceiling} of {preferred}."

    def _check_decrease(self, call: Call, quota: Quota, region: str | None, present: int, preferred: int) -> None:
        ignored = {text for value in call.values("ignoreSafetyChecks") for text in value.split(",")}
        # Clients that send enums as numbers name the checks by number.
        ignored |= {{"1": _BELOW_USAGE, "2": _TOO_HIGH}.get(text, "") for text in ignored}
        used = self._world.quota_in_use(region)[quota.metric] if region else 0
        if preferred != UNLIMITED and preferred < used and _BELOW_USAGE not in ignored:
            raise failed_precondition(f"{_BELOW_USAGE}: {preferred} is below the {used} in use.")
        large = present > 0 and 0 <= preferred < present * (1 - _SAFE_DECREASE)
        if large and _TOO_HIGH not in ignored:
            raise failed_precondition(f"{_TOO_HIGH}: {preferred} is more than 10 percent below {present}.")

    def _body(self, call: Call) -> dict[str, Any]:
        return MESSAGES.parse(call.params["version"], "QuotaPreference", call.object())

    def _find(self, call: Call) -> Preference:
        name = f"{self._parent}/{call.params['preference']}"
        return PREFERENCES.find(self._world.store, name, f"Quota preference {name} not found.")

    def _answer(self, call: Call, item: Preference) -> Reply:
        body = records.answer(item, self._world.clock.now())
        return Reply(body=MESSAGES.render(call.params["version"], "QuotaPreference", body))

    def _require(self, call: Call, verb: str, request: str) -> None:
        records.check_query(call, request)
        self._world.access.require(call.principal, f"cloudquotas.quotas.{verb}", call.params["project"])


def _quota(body: Mapping[str, Any]) -> Quota:
    if body.get("service") != SERVICE:
        raise invalid_argument(f'Service "{body.get("service", "")}" has no quotas in the local cloud; only {SERVICE}.')
    quota = table().by_id(body.get("quotaId", ""))
    if quota is None:
        raise invalid_argument(f'Quota id "{body.get("quotaId", "")}" does not exist for service {SERVICE}.')
    return quota
