"""The journeys: the stage's beginning, a person's command, and their steps before they type it again."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bench.errors import BenchError
from bench.faults.ending import OTHER_REGION, RACED_REGION
from bench.faults.stage import Ran, Stage, ready
from slipway.using.submission.request import attempt_id
from tests.checkouts import own_image, own_pipeline
from tests.checkouts.checkout import MACHINE, REGION, VERTEX
from tests.checkouts.shell import wait_for
from tests.local.conftest import ROOT

UP, DESTROY = ("pulumi", "up"), ("pulumi", "destroy")
RUNS = 4
SWEEP = "list:\n" + "".join(f"  - {{say: point{number}}}\n" for number in range(1, RUNS + 1))


def cpu(most: int) -> dict[str, Any]:
    """Return one small cluster. Another `most` makes another generation of it."""
    return {"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": most}}}}}


FIRST: Mapping[str, Any] = {"persistentResources": cpu(2)}
# Alternative machines when the stack's own region has none.
ELSEWHERE: Mapping[str, Any] = {
    "persistentResources": {"cpu": {**cpu(2)["cpu"], "alternatives": [{"region": OTHER_REGION}]}}
}
EDITED: Mapping[str, Any] = {"persistentResources": cpu(3)}
THEIRS = "team-a"
ADOPTED: Mapping[str, Any] = {"persistentResources": {"theirs": {"id": THEIRS, **cpu(2)["cpu"]}}}
TEAM, BEA, EVE = "group:ml-engineers@company.example", "user:bea@company.example", "user:eve@company.example"


def shared_with(*members: str, **file: Any) -> Mapping[str, Any]:
    """Return a stack of these submitters, without a cluster of its own unless `file` has one."""
    return {"persistentResources": {}, "templates": [], "workspace": {"submitters": list(members)}, **file}


RACED: Mapping[str, Any] = {**FIRST, "regions": [OTHER_REGION, RACED_REGION]}
REMOVED: Mapping[str, Any] = {"persistentResources": {}, "templates": []}


def _nothing(stage: Stage) -> None:
    pass


@dataclass(frozen=True)
class Journey:
    """A journey. `base` is the stage's beginning. `file` is the stack file then, `command` is typed until all is
    well, and `between` has a person's steps before they type it once more. `patience`: the seconds for which a person
    watches a command that goes on through trouble, before they type Ctrl-C; None for any time. `beside` is the file
    of the stage's other stack, where the same is typed at once. `look` is typed in place of the first repetition;
    where it goes well, nobody types the same again."""

    name: str
    base: str
    command: tuple[str, ...]
    file: Mapping[str, Any] | None = None
    between: Callable[[Stage], None] = _nothing
    refused: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    patience: float | None = None
    beside: Mapping[str, Any] | None = None
    look: tuple[str, ...] = ()

    @property
    def engine(self) -> bool:
        return self.command[0] == "pulumi"

    @property
    def role(self) -> str:
        return "deployer" if self.engine else "submitter"

    def typed(self, stage: Stage) -> tuple[str, ...]:
        return stage.checkout.command(self.command[1]) if self.engine else self.command

    def type(self, stage: Stage, extra: Mapping[str, str], patience: float | None = None) -> Ran:
        """Type the command, on both of a stage's stacks at once."""
        if stage.other:
            return stage.run_both(self.command[1], self.role, extra)
        return stage.run(self.typed(stage), self.role, extra, patience)

    def type_again(self, stage: Stage, extra: Mapping[str, str], runs: int) -> Ran:
        """Type the same after so many `runs`, or look first."""
        if self.look and runs == 1:
            return stage.run(self.look, self.role, extra)
        return self.type(stage, extra)


def _without_machines(stage: Stage, *regions: str) -> None:
    none = {"at": 0, "machine": MACHINE["machine"], "strategy": "any", "machines": 0}
    supply = [{**none, "region": region} for region in regions]
    stage.cloud.rest("POST", "/vertex-local/scenario", {"supply": supply})


def _stocked_out(stage: Stage) -> None:
    _without_machines(stage, REGION)


def _stocked_again(stage: Stage) -> None:
    stage.cloud.rest("DELETE", "/vertex-local/scenario")


def up(stage: Stage, file: Mapping[str, Any]) -> None:
    stage.write(file)
    ready(stage, stage.checkout.command("up"))


def _deployed(stage: Stage) -> None:
    up(stage, FIRST)


def _theirs(stage: Stage) -> None:
    """Make a cluster of somebody else's, without a label of a stack's."""
    pool = {
        "id": "all",
        "machineSpec": {"machineType": MACHINE["machine"]},
        "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
        "replicaCount": "1",
        "autoscalingSpec": {"minReplicaCount": "1", "maxReplicaCount": "2"},
    }
    account = {"serviceAccountSpec": {"enableCustomServiceAccount": True}}
    key = {"encryptionSpec": {"kmsKeyName": stage.organisation.key}} if stage.organisation.key else {}
    body = {"resourcePools": [pool], "resourceRuntimeSpec": account, **key}
    stage.cloud.rest("POST", f"{VERTEX}/persistentResources?persistentResourceId={THEIRS}", body)
    at = f"{VERTEX}/persistentResources/{THEIRS}"
    wait_for(lambda: stage.cloud.rest("GET", at)["state"] == "RUNNING", "their cluster runs")


def _adopted(stage: Stage) -> None:
    """Run a job on an adopted cluster, which ends as cancelled if the cluster changes."""
    _theirs(stage)
    up(stage, ADOPTED)
    _napping(stage)


def _busy(stage: Stage) -> None:
    """Run one job on the pool's only machine, with people who wait for it."""
    _deployed(stage)
    _napping(stage)


def _with_waiting(stage: Stage) -> None:
    """Have a job wait for the busy pool, whose running job could go on from a checkpoint, and saves none."""
    template = stage.checkout.folder / "templates" / "nap.py"
    template.write_text(template.read_text().replace("code_flag=True", "code_flag=True,\n    checkpoints=True"))
    _busy(stage)
    waits = ("slipway", "submit", "nap", "-p", "say=waits", "--capacity", "pool", "--request-id", "waits")
    ready(stage, waits, "submitter")


def _with_image(stage: Stage) -> None:
    """Offer an image of somebody's own beside, while the pool is as busy."""
    own_image.lay_out(stage.checkout.folder)
    up(stage, {**FIRST, "templates": ["nap", "own"]})
    _napping(stage)


def _with_pipeline(stage: Stage) -> None:
    """Offer a pipeline beside, while the pool is as busy."""
    own_pipeline.lay_out(stage.checkout.folder)
    up(stage, {**FIRST, "templates": ["nap", "piped"]})
    _napping(stage)


def _with_script(stage: Stage) -> None:
    """Offer a template of any command beside, while the pool is as busy."""
    shutil.copy(ROOT / "templates" / "script.py", stage.checkout.folder / "templates")
    shutil.copytree(ROOT / "jobs" / "script", stage.checkout.folder / "jobs" / "script")
    up(stage, {**FIRST, "templates": ["nap", "script"]})
    _napping(stage)


def _given_up(stage: Stage) -> None:
    """Leave a job that waits for the pool as a killed command does that has just given it up."""
    _busy(stage)
    stage.run((*_SUBMIT, "--wait-for", "pool=1h", "--then", "spot"), "submitter", {}, patience=_UNTIL_SENT_S)
    wait_for(lambda: stage.checkout.jobs("wanted"), "the job waits")
    work = stage.checkout.catalog.removeprefix("gs://").removesuffix("catalog") + "work"
    following = f"gs://{work}/claims/{attempt_id('wanted', 1)}"
    for name, content in (("claims/wanted/next", following), ("claims/wanted", "moved")):
        url = f"{stage.cloud.url}/upload/storage/v1/b/{work}/o?uploadType=media&name={quote(name, safe='')}"
        stage.cloud.session().post(url, data=content.encode()).raise_for_status()


def _napping(stage: Stage) -> None:
    (stage.checkout.folder / "grid.yaml").write_text(SWEEP)
    job = ("slipway", "submit", "nap", "-p", "say=stays", "-p", "seconds=86000", "--request-id", "stays")
    ready(stage, job, "submitter")
    wait_for(lambda: [one["state"] for one in stage.checkout.jobs("stays")] == ["JOB_STATE_RUNNING"], "the job runs")
    # Until then processes come and go that install its requirements.
    spoken = ("slipway", "jobs", "logs", "nap")
    wait_for(lambda: "the word is" in stage.run(spoken, "submitter", {}).said, "the job speaks")


def _rolled(stage: Stage) -> None:
    _busy(stage)
    up(stage, EDITED)


def _failed(stage: Stage) -> None:
    """Leave the resources of an `up` whose cluster could not be made."""
    _stocked_out(stage)
    failed = stage.run(stage.checkout.command("up"), "deployer", {})
    assert failed.code != 0, failed.said
    _stocked_again(stage)


def _raced(stage: Stage) -> None:
    """Have machines in one region of three."""
    up(stage, RACED)
    _without_machines(stage, REGION, RACED_REGION)


def _machines_come(stage: Stage) -> None:
    """Have them in a second region too."""
    _without_machines(stage, RACED_REGION)


def _two(stage: Stage) -> None:
    """Deploy two stacks of one project with two submitters in common, and one that the other has alone."""
    up(stage, shared_with(TEAM, BEA, **FIRST))
    stage.write(shared_with(TEAM, BEA, EVE), stage.add_stack())
    done = stage.run_both("up", "deployer", {})
    if done.code != 0:
        raise BenchError(f"two stacks could not be made ready:\n{done.said}")


def _out(stage: Stage) -> None:
    _stocked_out(stage)


_SUBMIT = ("slipway", "submit", "nap", "-p", "say=hello", "--request-id", "wanted")
_TO_POOL = (*_SUBMIT, "--capacity", "pool")
_SESSION = (
    "slipway",
    "session",
    "start",
    "--machine",
    str(MACHINE["machine"]),
    "--idle",
    "1s",
    "--request-id",
    "wanted",
)
# The one region with machines is the last to be sent to.
_RACE = (*_SUBMIT, f"--race={RACED_REGION},{REGION},{OTHER_REGION}")
_LOOK = ("slipway", "jobs", "wait", "wanted", "--timeout", "20s")
_SWEEP = ("slipway", "submit", "nap", "--sweep", "grid.yaml", "--capacity", "pool")
# Its launcher is asked, and lives on: a stage's jobs run through all of its points.
_YIELD = ("slipway", "jobs", "yield", "stays", "--to", "waits", "--within", "23h")
BASES: Mapping[str, Callable[[Stage], None]] = {
    "empty": _nothing,
    "stocked-out": _out,
    "failed": _failed,
    "deployed": _deployed,
    "busy": _busy,
    "with-waiting": _with_waiting,
    "with-image": _with_image,
    "with-pipeline": _with_pipeline,
    "with-script": _with_script,
    "given-up": _given_up,
    "rolled": _rolled,
    "raced": _raced,
    "theirs": _theirs,
    "adopted": _adopted,
    "two-stacks": _two,
}
# A submission gives up sending by itself after two minutes; a sweep goes on for as long as it is limited.
_GIVEN_UP_S, _SWEPT_S, _UNTIL_SENT_S = 150.0, 75.0, 5.0
_CANCEL = (sys.executable, str(Path(__file__).with_name("cancelling.py")))
_TO_DESTROY = {"SLIPWAY_PURPOSE": "destroy"}
JOURNEYS = (
    Journey("create", "empty", UP, FIRST),
    Journey("edit", "deployed", UP, EDITED),
    Journey("rollover", "busy", UP, EDITED),
    Journey("revert", "rolled", UP, FIRST),
    Journey("remove", "deployed", UP, REMOVED),
    Journey("destroy", "deployed", DESTROY, variables=_TO_DESTROY),
    Journey("destroy-after-a-failed-up", "failed", DESTROY, variables=_TO_DESTROY),
    Journey("two-stacks-drop", "two-stacks", UP, shared_with(TEAM, **FIRST), beside=shared_with(TEAM)),
    Journey("two-stacks-destroy", "two-stacks", DESTROY, variables=_TO_DESTROY),
    Journey("stock-out", "stocked-out", UP, FIRST, between=_stocked_again, refused=True),
    Journey("stock-out-elsewhere", "stocked-out", UP, ELSEWHERE),
    Journey("adopt", "theirs", UP, ADOPTED),
    Journey("leave-adopted", "adopted", UP, FIRST),
    Journey("submit", "busy", _TO_POOL, patience=_GIVEN_UP_S),
    Journey("submit-image", "with-image", (*_TO_POOL[:2], "own", *_TO_POOL[3:]), patience=_GIVEN_UP_S),
    Journey("submit-pipeline", "with-pipeline", (*_TO_POOL[:2], "piped", *_TO_POOL[3:]), patience=_GIVEN_UP_S),
    Journey("session", "with-script", (*_SESSION, "--capacity", "pool"), patience=_GIVEN_UP_S),
    Journey("fallback", "busy", (*_SUBMIT, "--wait-for", "pool=1s", "--then", "spot", "--wait"), patience=_GIVEN_UP_S),
    Journey("move", "given-up", (*_SUBMIT, "--wait-for", "pool=1h", "--then", "spot"), patience=_GIVEN_UP_S),
    Journey("cancel", "busy", (*_CANCEL, "nap", "1s"), patience=_GIVEN_UP_S),
    Journey("pipeline", "with-pipeline", (*_CANCEL, "piped"), patience=_GIVEN_UP_S),
    Journey("yield", "with-waiting", _YIELD, patience=_GIVEN_UP_S),
    # A region that takes no leg has two turns.
    Journey("race", "raced", _RACE, RACED, between=_machines_come, patience=2 * _GIVEN_UP_S, look=_LOOK),
    Journey("sweep", "busy", _SWEEP, patience=_SWEPT_S),
)
