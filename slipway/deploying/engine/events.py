"""The engine's stream of events, as `pulumi preview --json` writes it, a JSON object a line, read into values.

Reading never raises: a stream may be cut, be another engine's, or that of a failed preview. `Preview.why` names what is
missing. The first event has the stack's configuration in the plain; none of it is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from slipway.authoring.stack.secrets import without_named
from slipway.base.codec import from_json
from slipway.deploying.engine.preview import REFUSED, SECRET, UNKNOWN, EngineStep, Objection, Preview, Resource
from slipway.model.facts import Fact

STREAMING = {"PULUMI_ENABLE_STREAMING_JSON_PREVIEW": "1"}
"""The variable that makes the engine write events, and not one document at the end."""

# The engine's marks of values that are not plain JSON, and of secrets.
_SIGNATURE, _SECRET = "4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270"
# The engine's stand-ins for an unknown text, truth, number, list, file, archive, mapping.
_UNKNOWN = frozenset(
    {
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)
_ENGINE = "pulumi:pulumi:Stack"
# The messages of Pulumi's Python for each resource and hook that a program registers, where it writes any.
_RESOURCE, _HOOK = "registering resource: ", "do_register_resource_hook "
# Inputs that only a refresh of the provider writes: the checksum of contents, and the bucket of a grant by its path.
_CHECKSUM, _BUCKET, _PATH = "detectMd5hash", "bucket", "b/"
_NOT_DONE = ("same", "refresh", "read", "read-replacement")

Published = tuple[str, str, Fact]
"""The type, the logical name and the inputs of a resource."""


def read(lines: Iterable[str]) -> Preview:
    """Read a stream; lines that are not JSON (a warning of the shell) are passed over."""
    stream = _Stream()
    for line in lines:
        if line.lstrip().startswith("{"):
            try:
                stream.take(from_json(line))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                stream.odd += 1
    return stream.preview()


def declared(preview: Preview) -> tuple[Published, ...]:
    """Return the resources as they would be deployed. Where the preview ended early, of those that nobody has asked for
    by then it is not known whether they stay."""
    gone = {step.urn for step in preview.steps if step.new is None}
    steps = {
        urn: step
        for urn, step in preview.standing.items()
        if urn not in gone and (preview.complete or urn in preview.asked_for)
    }
    steps |= {step.urn: step for step in preview.steps if step.new is not None}
    return tuple((step.type, step.name, step.new.inputs) for step in steps.values() if step.new)


def deployed(preview: Preview) -> tuple[Published, ...]:
    """Return the resources as they are deployed."""
    steps = {step.urn: step for step in preview.steps if step.old is not None} | dict(preview.standing)
    return tuple((step.type, step.name, step.old.inputs) for step in steps.values() if step.old)


def unopened(preview: Preview | None) -> frozenset[str]:
    """Return the buckets of which the program declares that nobody may open them to the public."""
    every = (inputs for _, _, inputs in (declared(preview) if preview else ()))
    return frozenset(str(each.get("name")) for each in every if each.get("publicAccessPrevention") == "enforced")


@dataclass
class _Stream:
    steps: dict[tuple[str, str], EngineStep] = field(default_factory=dict)
    standing: dict[str, EngineStep] = field(default_factory=dict)
    asked_for: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    result: str | None = None
    #: The number of events that could not be understood.
    odd: int = 0
    #: None where the program's debug messages are missing, so that nothing is known of its hooks.
    hooks: frozenset[str] | None = None
    stack: str = ""
    objections: set[Objection] = field(default_factory=set)

    def take(self, event: Mapping[str, Any]) -> None:
        if "resourcePreEvent" in event:
            self._resource(event["resourcePreEvent"]["metadata"], done=False)
        elif "resOutputsEvent" in event:
            self._resource(event["resOutputsEvent"]["metadata"], done=True)
        elif "diagnosticEvent" in event:
            diagnostic = event["diagnosticEvent"]
            severity = str(diagnostic.get("severity", ""))
            text = str(diagnostic.get("message", "")).strip()
            # The others are many, and are shown to nobody.
            text = without_named(text) if severity in ("error", "warning") else text
            if severity == "error" and text and text not in self.errors:
                self.errors.append(text)
            elif severity == "warning" and text and text not in self.warnings:
                self.warnings.append(text)
            elif severity == "debug" and text.startswith(_HOOK):
                self.hooks = (self.hooks or frozenset()) | {text.removeprefix(_HOOK)}
            elif severity == "debug" and text.startswith(_RESOURCE):
                self.hooks = self.hooks or frozenset()
        elif "policyEvent" in event:
            broken = event["policyEvent"]
            objection = Objection(
                pack=str(broken["policyPackName"]),
                rule=str(broken["policyName"]),
                about=str(broken.get("resourceUrn") or "").rpartition("::")[2],
                message=without_named(str(broken.get("message") or "")).strip(),
                mandatory=broken.get("enforcementLevel") not in ("advisory", "disabled"),
            )
            self.objections.add(objection)
        elif "summaryEvent" in event:
            self.result = str(event["summaryEvent"].get("result", "succeeded"))

    def _resource(self, metadata: Mapping[str, Any], *, done: bool) -> None:
        op, urn = str(metadata["op"]), str(metadata["urn"])
        if op not in ("refresh", "delete"):
            self.asked_for.add(urn)
        self.stack = self.stack or urn.removeprefix("urn:pulumi:").partition("::")[0]
        # The second event of a step tells more than its first one only after a refresh, or where that one is missing.
        if done and not (op == "refresh" or (op == "same" and urn not in self.standing)):
            return
        step = _step(metadata)
        if step.type == _ENGINE or step.type.startswith("pulumi:providers:"):
            return
        if op == "refresh" or (op == "same" and urn not in self.standing):
            self.standing[urn] = step
        changes = op not in _NOT_DONE or (op == "same" and _kept_otherwise(step))
        if changes and not done:
            self.steps[urn, op] = step

    def preview(self) -> Preview:
        refused = self.result not in (None, "succeeded") or (bool(self.errors) and self.result is None)
        # Sorted by name: the engine's order differs from run to run.
        return Preview(
            steps=tuple(self.steps[key] for key in sorted(self.steps)),
            standing={urn: self.standing[urn] for urn in sorted(self.standing)},
            asked_for=frozenset(self.asked_for),
            errors=tuple(self.errors),
            why="; ".join(self._missing(refused=refused)),
            refused=refused,
            warnings=tuple(sorted(self.warnings)),
            hooks=self.hooks,
            stack=self.stack,
            objections=tuple(sorted(self.objections)),
        )

    def _missing(self, *, refused: bool) -> Iterator[str]:
        if refused:
            yield REFUSED
        elif self.result is None:
            yield "the engine's events end before its summary, so something may be missing, deletions above all"
        if self.odd:
            events = "an event" if self.odd == 1 else f"{self.odd} events"
            yield f"{events} of the engine could not be understood (another version than 3.259?)"


def _kept_otherwise(step: EngineStep) -> bool:
    old, new = step.old, step.new
    return old is not None and new is not None and (old.protected, old.retained) != (new.protected, new.retained)


def _step(metadata: Mapping[str, Any]) -> EngineStep:
    urn = str(metadata["urn"])
    _, _, types, name = urn.split("::", 3)
    parents, _, own = types.rpartition("$")
    detailed = metadata.get("detailedDiff") or {}
    replaces = [path for path, difference in detailed.items() if "replace" in str(difference.get("diffKind", ""))]
    return EngineStep(
        op=str(metadata["op"]),
        urn=urn,
        type=own,
        name=name,
        parent=parents.rpartition("$")[2],
        old=_resource(metadata.get("old")),
        new=_resource(metadata.get("new")),
        diffs=tuple(dict.fromkeys((*(metadata.get("diffs") or ()), *detailed))),
        replaces=tuple(dict.fromkeys((*(metadata.get("keys") or ()), *replaces))),
        component=not (metadata.get("new") or metadata.get("old") or {}).get("custom"),
    )


def _resource(state: Mapping[str, Any] | None) -> Resource | None:
    if state is None:
        return None
    inputs = _plain(state.get("inputs") or {})
    inputs.pop(_CHECKSUM, None)
    if isinstance(bucket := inputs.get(_BUCKET), str):
        inputs[_BUCKET] = bucket.removeprefix(_PATH)
    return Resource(
        inputs=inputs,
        outputs=_plain(state.get("outputs") or {}),
        id=str(state.get("id", "")),
        retained=bool(state.get("retainOnDelete")),
        protected=bool(state.get("protect")),
    )


def _plain(value: Any) -> Any:
    """Return a value without the engine's own keys; a secret in either of its two forms is `SECRET`, a file its hash,
    and an unknown value `UNKNOWN`."""
    # A JSON mapping is always a dict: a test for any mapping takes most of the time of a large preview.
    if isinstance(value, dict):
        if value.get(_SIGNATURE) == _SECRET:
            return SECRET
        if _SIGNATURE in value:
            return str(value.get("hash", "file"))
        return {key: _plain(item) for key, item in value.items() if not key.startswith("__")}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return UNKNOWN if isinstance(value, str) and value in _UNKNOWN else value
