"""Types that this provider does not know, taken as declared: their inputs are their outputs, and nothing is made."""

import re
from threading import Lock
from typing import Any

from .engine_log import EngineLog
from .protos import messages
from .provider import type_and_name

_KINDS = messages.PropertyDiff
_IDENTITY = re.compile(r"name|project|location|region|zone|\w+Id")
"""The inputs by which Google knows a resource: nothing there is renamed or moves, so another one is made."""
_IDS = {
    "gcp:compute/network:Network": "projects/{project}/global/networks/{name}",
    "gcp:compute/networkAttachment:NetworkAttachment": "projects/{project}/regions/{region}/networkAttachments/{name}",
    "gcp:kms/cryptoKey:CryptoKey": "{keyRing}/cryptoKeys/{name}",
    "gcp:kms/keyRing:KeyRing": "projects/{project}/locations/{location}/keyRings/{name}",
    "gcp:secretmanager/secret:Secret": "projects/{project}/secrets/{secretId}",
}
"""The ids that the real provider gives what a cluster or a job names; others have their names for ids."""


class AsDeclared:
    """The answers about resources of such types. Properties stay as they came: secrets, assets and what is unknown."""

    def __init__(self, log: EngineLog | None) -> None:
        self._log = log
        self._said: set[str] = set()
        self._lock = Lock()

    def check(self, request: Any) -> Any:
        """Take all inputs, and say once for each type what that means."""
        token = type_and_name(request.urn)[0]
        with self._lock:
            new, self._said = token not in self._said, self._said | {token}
        if new and self._log is not None:
            words = (
                f"the local cloud has no {token}: it is taken as declared and nothing is made. The real one makes it"
            )
            self._log.tell(request.urn, words)
        return messages.CheckResponse(inputs=request.news)

    def diff(self, request: Any) -> Any:
        """Compare the inputs. Another identity needs another resource; what else does is not known, and told as an
        update.

        An import, which has read nothing to compare with, agrees with its program.
        """
        old, new = request.old_inputs.fields, request.news.fields
        imported = not old and not request.olds.fields
        changes = [
            name
            for name in sorted({*old, *new})
            if not imported and (name not in old or name not in new or old[name] != new[name])
        ]
        replaces = [name for name in changes if _IDENTITY.fullmatch(name)]
        kinds = {
            name: f"{'UPDATE' if name in old and name in new else 'ADD' if name in new else 'DELETE'}"
            f"{'_REPLACE' if name in replaces else ''}"
            for name in changes
        }
        return messages.DiffResponse(
            changes=messages.DiffResponse.DIFF_SOME if changes else messages.DiffResponse.DIFF_NONE,
            diffs=changes,
            replaces=replaces,
            detailedDiff={name: _KINDS(kind=kind, inputDiff=True) for name, kind in kinds.items()},
            hasDetailedDiff=True,
        )

    def create(self, request: Any, project: str) -> Any:
        """Give the inputs back, with an id. `project`: the provider's."""
        state = declared_state(request.urn, request.properties)
        return messages.CreateResponse(id="" if request.preview else _id(request.urn, state, project), properties=state)


def _id(urn: str, state: Any, project: str) -> str:
    token, logical = type_and_name(urn)
    known = {"project": project} | {
        key: value.string_value for key, value in state.fields.items() if value.string_value
    }
    parts = re.findall(r"\{(\w+)\}", form := _IDS.get(token, ""))
    return form.format(**known) if form and known.keys() >= {*parts} else known.get("name", logical)


def declared_state(urn: str, inputs: Any) -> Any:
    """Return the inputs as a state. One without a name gets its own: most types make one up, and others use it."""
    state = type(inputs)()
    state.CopyFrom(inputs)
    if "name" not in state.fields:
        state.fields["name"].string_value = type_and_name(urn)[1]
    return state
