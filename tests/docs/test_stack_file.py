"""docs/stack-file.md: each key with what it takes, and what an edit of it does, as the types and reviews have it. # D8

`python -m tests.docs.test_stack_file` writes it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from slipway.authoring.stack.stack import Stack, parse
from slipway.authoring.stack.structure import schema
from slipway.authoring.stack.yaml_file import from_text
from slipway.authoring.template.stack_machines import on_stack
from slipway.model.budget import Budget
from slipway.model.fingerprint import fingerprint_of
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.reviewing.reviewer import review
from slipway.template import WorkerPool
from tests.docs.console import blocks
from tests.docs.test_job_template import BASE
from tests.review.case import STACK, Case, Edit
from tests.review.checkout import text
from tests.review.play import change_of
from tests.review.test_stack_fields import EDITS, GIVEN

PAGE = Path(__file__).resolve().parents[2] / "docs" / "stack-file.md"
_KEYS = re.compile(r"(?<=<!-- keys -->\n).*(?=<!-- /keys -->)", re.DOTALL)
TITLES = {
    "ConfigEntry": "`config`",
    "ClusterEntry": "A cluster",
    "PoolEntry": "A pool",
    "ReplicaRange": "`replicas` of a pool that grows",
    "DiskEntry": "`disk`",
    "AcceleratorEntry": "`accelerator`",
    "AlternativeEntry": "One of `alternatives`",
    "PscInterfaceEntry": "`pscInterface`",
    "DnsPeeringEntry": "One of `dnsPeeringConfigs`",
    "EncryptionEntry": "`encryption`",
    "ServiceAccountEntry": "`serviceAccount`",
    "WorkspaceEntry": "`slipway:workspace`",
    "BudgetEntry": "`slipway:budget`",
    "SessionsEntry": "`slipway:sessions`",
    "AgentsEntry": "`slipway:agents`",
    "TrainerEntry": "One of `slipway:trainers`",
    "QuotaEntry": "`slipway:quota`",
    "TeamEntry": "One of `slipway:teams`",
    "MachineEntry": "One of `slipway:machines`",
    "ReservationEntry": "One of `slipway:reservations`",
    "PolicyEntry": "`slipway:policy`",
    "PolicyRulesEntry": "`mandatory` and `advisory` of a policy",
}
Definition = Mapping[str, Any]


def test_the_page_has_every_key() -> None:
    match = _KEYS.search(PAGE.read_text("utf-8"))
    assert match and match[0] == made(), "python -m tests.docs.test_stack_file writes it"


def test_a_key_for_a_machine_is_what_the_page_says() -> None:  # D3, D6
    keyed, *_ = (parse(from_text(block, STACK)) for block in blocks(PAGE, "yaml"))
    chief = WorkerPool("trainer", machine="gpu", disk=Disk("pd-standard", 300))
    pools = (chief, replace(chief, role="other", machine="small"))
    found = on_stack(replace(BASE, worker_pools=pools, parameters=(), variants=()), keyed)
    assert [pool.spec for pool in found.worker_pools] == [
        MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 1, Disk("pd-ssd", 200)),
        MachineSpec("n1-standard-8", disk=Disk("pd-standard", 300)),
    ]


def test_members_of_teams_submit_and_their_budgets_are_the_stack_s() -> None:  # P4
    _, teams, _ = (parse(from_text(block, STACK)) for block in blocks(PAGE, "yaml"))
    everybody = ("group:ml-platform@acme.example", "group:vision@acme.example", "group:language@acme.example")
    assert teams.workspace.submitters == everybody and teams.teams["vision"].clusters == ("h100",)
    assert teams.budget == Budget(teams={"vision": 20000.0}, enforce=True)


def test_anchors_repeat_what_they_name() -> None:  # D6
    *_, repeated = (parse(from_text(block, STACK)) for block in blocks(PAGE, "yaml"))
    vision, speech, tests = repeated.clusters
    assert vision.pools == tests.pools and vision.pools[0].max == 4
    assert speech.pools[0].machine == vision.pools[0].machine and speech.pools[0].max == 2
    assert (vision.labels, speech.labels) == ({"team": "vision"}, {"team": "speech"})


def made() -> str:
    definitions = schema()["$defs"]
    assert set(TITLES) == set(definitions)
    return "\n".join(line for name, title in TITLES.items() for line in _section(name, title, definitions[name]))


def _section(name: str, title: str, definition: Definition) -> Iterator[str]:
    yield f"## {title}\n"
    if about := definition.get("description"):
        yield f"{about}\n"
    yield "| key | takes | default | meaning | an edit |\n|---|---|---|---|---|"
    for key, field in definition["properties"].items():
        left_out = "" if key in definition.get("required", ()) else _value(field.get("default"))
        about = field.get("description", "").replace("<", "\\<")
        example = f" `{key}: {field['examples'][0]}`" if "examples" in field else ""
        cells = (f"`{key}`", _takes(field), left_out, about + example, edit(f"{name}.{key}"))
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""


def _value(default: object) -> str:
    if default in (None, "", [], {}) or isinstance(default, dict):
        return "–"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def _takes(field: Definition) -> str:
    """A value's kind and bounds, in words."""
    some = [choice for choice in field.get("anyOf", field.get("oneOf", [field])) if choice.get("type") != "null"]
    return " or ".join(_one({**field, **choice}) for choice in some)


def _one(field: Definition) -> str:
    if reference := field.get("$ref"):
        title = TITLES[reference.rpartition("/")[2]]
        return f"[{title}](#{re.sub(r'[^a-z -]', '', title.lower()).replace(' ', '-')})"
    if choices := field.get("enum"):
        return (
            ", ".join(f"`{choice}`" for choice in choices if choice is not False)
            if len(choices) < 5
            else f"one of {len(choices)}"
        )
    bounds = [f"{word} {field[key]:,}" for key, word in (("minimum", "from"), ("maximum", "to")) if key in field]
    kind = {"integer": "whole number", "number": "number", "boolean": "true or false", "string": "text"}
    if field["type"] == "array":
        return f"list of {_takes(field['items'])}"
    if field["type"] == "object":
        of = field.get("additionalProperties") or next(iter(field["patternProperties"].values()))
        return f"by name: {_takes(of)}"
    form = field.get("patternErrorMessage") or (
        f"at most {field['maxLength']} characters" if "maxLength" in field else ""
    )
    return " ".join((kind[field["type"]], *bounds)) + (f": {form}" if form else "")


def edit(name: str) -> str:
    """What an edit of a field does to what is there."""
    if name not in EDITS:
        return "see its keys" if name.partition(":")[0].endswith("slipway") else "refused"
    if name == "ClusterEntry.id":
        return "–"  # what an adopted cluster is, nobody changes here
    given, edits = GIVEN.get(name, ()), EDITS[name]
    edits = edits if isinstance(edits, tuple) else (edits,)
    if _ids(given) & _ids((*given, *edits)) != _ids(given):
        return "new cluster"
    change = change_of(Case(name, edits, given=given))
    if any(finding.kind == "deployment-rejected" for finding in review(change).findings):
        return "refused"
    old, new = change.comparison.old, change.comparison.new
    if set((new.work_elsewhere or {}).values()) - set((old.work_elsewhere or {}).values()):
        return "new bucket"
    moved = [name for name in old.trainers if name in new.trainers and new.trainers[name] != old.trainers[name]]
    return "new account" if moved else "at once"


def _ids(edits: tuple[Edit, ...]) -> set[tuple[str, str]]:
    stack: Stack = parse(from_text(text(STACK, edits), STACK))
    return {(cluster.name, fingerprint_of("prod", stack.project, stack.region, cluster)) for cluster in stack.clusters}


if __name__ == "__main__":
    PAGE.write_text(_KEYS.sub(lambda _: made(), PAGE.read_text("utf-8")), "utf-8")
