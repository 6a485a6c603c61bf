"""An experiment gets its TensorBoard whatever happens meanwhile: it is being made, is changed, can't be made. # W8"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from slipway.google.clusters import Operation
from slipway.google.failures import Answer, Call, Unavailable, failure
from slipway.google.metadata import BOARD, Context
from slipway.model.kinds import CUSTOM_JOB
from slipway.using.context import Clock
from slipway.using.submission.experiment_run import prepare_experiment

HOME = "projects/p/locations/r"
NAME = f"{HOME}/metadataStores/default/contexts/digits"
MINE = f"{HOME}/tensorboards/1"


@dataclass
class Cloud:
    """Experiments by name, and the default TensorBoard as its operation is looked at: it is made by the `made_at`-th
    look. `meanwhile` happens when an experiment is written first: another one there has these metadata."""

    experiments: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    made_at: int = 0
    error: str = ""
    meanwhile: Mapping[str, Any] | None = None
    looks: int = 0
    seconds: float = 0.0
    creations: int = 0

    def metadata(self, _: str) -> Cloud:
        return self

    def context(self, name: str) -> Context:
        if name not in self.experiments:
            raise failure(Call("read"), Answer(404, "NOT_FOUND", "no"))
        return Context(name, "", self.experiments[name])

    def default_board(self, home: str) -> str:
        assert home == HOME
        return MINE if self.creations and self.looks >= self.made_at and not self.error else ""

    def make_default_board(self, home: str, title: str) -> Operation:
        assert home == HOME and title.startswith("Default Tensorboard 2026-11-20")
        self.creations += 1
        return Operation("op", done=self.made_at == 0, error=self.error)

    def operation(self, name: str) -> Operation:
        self.looks += 1
        return Operation(name, done=self.looks >= self.made_at, error=self.error)

    def make(self, name: str, schema: str, title: str, board: str) -> bool:
        assert (schema, title) == ("system.Experiment", "digits")
        if self._changed(name):
            return False
        self.experiments[name] = {BOARD: board}
        return True

    def change(self, context: Context, key: str, value: str) -> None:
        if self._changed(context.name):
            raise failure(Call("write"), Answer(409, "ABORTED", "etag"))
        self.experiments[context.name] = {**context.metadata, key: value}

    def _changed(self, name: str) -> bool:
        other, self.meanwhile = self.meanwhile, None
        if other is not None:
            self.experiments[name] = other
        return other is not None

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    def prepare(self) -> None:
        now = datetime(2026, 11, 20, 12, tzinfo=UTC)
        context = SimpleNamespace(
            connection=self,
            vertex=self,
            catalog=SimpleNamespace(region="r"),
            clock=Clock(monotonic=lambda: self.seconds, sleep=self.sleep),
            now=now,
        )
        request = SimpleNamespace(kind=CUSTOM_JOB, body={"jobSpec": {"experiment": NAME}})
        prepare_experiment(cast("Any", context), cast("Any", request))


def test_it_waits_for_the_tensorboard_that_is_being_made() -> None:
    cloud = Cloud(made_at=3)
    cloud.prepare()
    assert (cloud.looks, cloud.creations, cloud.experiments) == (3, 1, {NAME: {BOARD: MINE}})


@pytest.mark.parametrize("there", [{}, {NAME: {"owner": "ada"}}])
@pytest.mark.parametrize("other", [{}, {BOARD: "theirs"}])
def test_what_somebody_writes_meanwhile_stays(there: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    cloud = Cloud(dict(there), meanwhile=other)
    cloud.prepare()
    assert cloud.experiments == {NAME: {BOARD: MINE, **other}}
    assert cloud.creations == 1


@pytest.mark.parametrize(
    ("cloud", "why"), [(Cloud(made_at=10_000), "not there after 300 s"), (Cloud(error="no key"), "no key")]
)
def test_without_a_tensorboard_nothing_is_made_and_it_says_why(cloud: Cloud, why: str) -> None:
    with pytest.raises(Unavailable, match="could not create the default TensorBoard") as error:
        cloud.prepare()
    assert why in error.value.why and cloud.experiments == {}
