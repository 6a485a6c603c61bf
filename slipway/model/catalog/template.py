"""Templates as the catalog offers them: parameters, and an offer for each capacity type and case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from slipway.base.codec import KEY_OF_ENTRY, NOT_WRITTEN, Else, Form, MaybeText, one_of
from slipway.base.formatting import plain, unfit
from slipway.model.catalog import command_line
from slipway.model.catalog.forms import (
    PARAMETER_NAME,
    PLAIN_NAME,
    Count,
    Hourly,
    Metrics,
    Text,
    Texts,
)
from slipway.model.catalog.parameter_types import BY_NAME, ParameterType, Scalar, Value
from slipway.model.kinds import CUSTOM_JOB, KINDS

Values = Annotated[tuple[Scalar, ...], Form(bool, "a list of values")]
Regions = Annotated[
    tuple[Annotated[str, PLAIN_NAME], ...], Form(lambda regions: len(regions) <= 100, "at most 100 regions")
]
"""Regions of a bounded number: all of them are asked at once, and a catalog may come from anybody's bucket."""


@dataclass(frozen=True)
class Parameter:
    """A template's parameter. Its bounds are inclusive. Bounds and choices are those of each item of a list."""

    name: Annotated[str, PARAMETER_NAME]
    type: Annotated[str, Form(BY_NAME.__contains__, one_of(BY_NAME))]
    default: Value | None = None
    min: float | None = None
    max: float | None = None
    choices: tuple[Scalar, ...] = ()
    help: str = ""
    #: The value is a command, in which `{name}` stands for another parameter (`slipway.model.catalog.command_line`).
    command: bool = False

    def __post_init__(self) -> None:
        """Convert whole numbers among a float's default and choices to floats, as if they had been typed."""
        object.__setattr__(self, "default", self._typed(self.default))
        object.__setattr__(self, "choices", tuple(map(self._typed, self.choices)))

    def _typed(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self._typed, value))
        floats = self.type in ("float", "list[float]")
        return float(value) if floats and type(value) is int and not unfit(value) else value

    def refusal(self, value: Any) -> str:
        """Return why the parameter may not have this value, or an empty string."""
        value = self._typed(value)
        if self.kind.item and isinstance(value, tuple):
            wrongs = (f"has {item!r}, which {wrong}" for item in value if (wrong := self.each.refusal(item)))
            return next(wrongs, "")
        if isinstance(value, int | float | str) and (wrong := unfit(value)):
            return wrong
        if type(value) is not self.kind.python:
            return f"is not of type {self.type}"
        if isinstance(value, str) and "\0" in value:
            return "has a null character, which no argument can"
        if self.command and isinstance(value, str) and (wrong := command_line.refusal(value)):
            return wrong
        if isinstance(value, int | float) and self.kind.number:
            if self.min is not None and value < self.min:
                return f"is below min {plain(self.min)}"
            if self.max is not None and value > self.max:
                return f"is above max {plain(self.max)}"
        if self.choices and value not in self.choices:
            return "is none of the choices " + ", ".join(map(str, self.choices))
        return ""

    @property
    def kind(self) -> ParameterType:
        return BY_NAME[self.type]

    @property
    def bounds(self) -> str:
        """Return `1 to 5000`, `at least 1`, `at most 5000`; empty without any."""
        least, most = ("" if end is None else plain(end) for end in (self.min, self.max))
        if least and most:
            return f"{least} to {most}"
        return f"at least {least}" if least else f"at most {most}" if most else ""

    @property
    def each(self) -> Parameter:
        """An item of a list, as a parameter; a parameter of a single value itself."""
        return replace(self, type=self.kind.item.name, default=None) if self.kind.item else self

    @property
    def required(self) -> bool:
        return self.default is None


USUAL_SCRIPT = "script"
"""The template for people's own commands that a command takes by itself, as `slipway init` calls it."""
OF_TEAM = "--team"
"""The condition of an offer for one team's submissions. No parameter has such a name: an earlier client takes none."""


def case_in_words(when: Mapping[str, Values], text: Callable[[Scalar], str] = str) -> str:
    """Return `team vision, accelerator=L4, model=2b or 9b`, by name: a published catalog has no other order."""
    words = (f"{name}={' or '.join(map(text, values))}" for name, values in sorted(when.items()))
    return ", ".join(words).replace(f"{OF_TEAM}=", "team ")


@dataclass(frozen=True)
class Offer:
    """A template compiled for one capacity type and one case of its parameters.

    A newer version's offer may have an unknown `capacity_type` or `kind`; then it is not available.
    """

    capacity_type: Annotated[str, PLAIN_NAME]
    available: bool
    why: Text
    #: The cluster's name, for the capacity type `pool` alone.
    cluster: Text
    #: The cluster's pools, one for each workerPoolSpec of the request, empty where that is skipped.
    pools: Texts
    #: Of all machines, at the usual replicas.
    price_per_hour: Hourly
    #: The body to post, with placeholders (`slipway.model.catalog.placeholders`).
    request: Mapping[str, Any]
    kind: Annotated[str, PLAIN_NAME] = CUSTOM_JOB.name
    #: The case: each of these parameters has one of its values. Offers of a kind that apply are of one variant.
    when: Mapping[str, Values] = field(default_factory=dict)
    #: Seconds until a submission falls back to the next offer; None for never.
    wait: float | None = None
    #: One for each workerPoolSpec of the request, empty where that is skipped.
    roles: tuple[str, ...] = ()
    #: The capacity type's rule, where Google had another one earlier.
    note: str = ""
    #: Quota was short at the last deployment.
    lacks_quota: bool = False
    #: The name of a dormant cluster; then `cluster` and `pools` are empty.
    dormant: str = ""
    #: The name of its machines, where a submission may take others as well; offers of one shape follow each other.
    shape: str = ""
    #: The region of machines of its own; empty for the stack's own region, and for a cluster's machines.
    region: Annotated[MaybeText, PLAIN_NAME] = ""

    @property
    def spec(self) -> Mapping[str, Any]:
        """The CustomJobSpec of the request; empty for a kind unknown to this version."""
        return KINDS[self.kind].spec_of(self.request) if self.kind in KINDS else {}

    @property
    def worker_pools(self) -> Sequence[Mapping[str, Any]]:
        """The worker pools of the request, empty ones where they are skipped."""
        return self.spec.get("workerPoolSpecs") or ()

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of the request; none for a kind unknown to this version."""
        return self.request.get("labels", {}) if self.kind in KINDS else {}

    @property
    def team(self) -> str:
        """The team for whose submissions alone it is; empty for everybody's."""
        return str(self.when.get(OF_TEAM, ("",))[0])

    @property
    def barred(self) -> bool:
        """True where its cluster is of other teams than its submissions count for."""
        return bool(self.cluster) and not self.available

    def fits_shape(self, shape: str) -> bool:
        """Tell whether a job of this shape may be its; of one without a shape it is not known."""
        return self.shape == shape or not (self.shape and shape)

    def label(self, usual_kind: str, *, with_cluster: bool = False) -> str:
        """Return the capacity type, and what tells its offer from others: `spot (model=2b) as training-pipeline`."""
        when = case_in_words(self.when)
        kind = f"as {self.kind}" if self.kind != usual_kind else ""
        where = (self.cluster or self.dormant) if with_cluster else ""
        words = (self.capacity_type, where, f"on {self.shape}" if self.shape else "", f"({when})" if when else "", kind)
        return " ".join(word for word in words if word)


def applying(offers: Iterable[Offer], values: Mapping[str, Any], team: str) -> tuple[Offer, ...]:
    """Return the offers for the values of parameters: a team's own where it has some, else those for everybody."""
    chosen = {**values, OF_TEAM: team}
    standing = [offer for offer in offers if all(chosen.get(name) in wanted for name, wanted in offer.when.items())]
    return tuple(offer for offer in standing if offer.team) or tuple(standing)


@dataclass(frozen=True)
class Study:
    """The search of a tuning job. The numbers of trials may be placeholders."""

    max_trials: Count
    parallel_trials: Count
    algorithm: str
    #: Pairs of id and goal.
    metrics: Metrics
    parameters: Texts


@dataclass(frozen=True)
class Template:
    """A template on offer."""

    name: Annotated[str, KEY_OF_ENTRY, PLAIN_NAME]
    summary: Text
    kind: Annotated[str, PLAIN_NAME]
    roles: Texts
    parameters: Annotated[tuple[Parameter, ...], Else(())]
    #: In order of preference.
    offers: Annotated[tuple[Offer, ...], Else(())]
    #: The kinds that it may be submitted as, the default first.
    kinds: tuple[Annotated[str, PLAIN_NAME], ...] = ()
    #: The gs:// URI of its code; empty for an `image`.
    package: str = ""
    #: A folder's own code may replace the template's, whatever version packs it.
    code_flag: bool = False
    #: The rule that forbids a folder's own code.
    code_why: str = ""
    study: Study | None = None
    image: str = ""
    requirements: tuple[str, ...] = ()
    #: Its code goes on from where it was when it is started again.
    checkpoints: bool = False
    #: Its jobs make room for others when they are asked to: the launchers of earlier versions don't.
    yields: bool | None = None
    #: The folders beside its own from which its packages have code as well.
    shared: tuple[str, ...] | None = None
    #: A folder's own code may replace the template's, beside a launcher that copies inputs: earlier versions pack none.
    code_with_inputs: bool | None = None
    #: Where it may have machines of its own after the stack's own region, in order.
    regions: Regions | None = None
    #: Its file and line in the catalog's commit: `templates/x.py:5`.
    source: str = ""
    #: The part that this version does not understand; then the template has neither parameters nor offers.
    unread: Annotated[str, NOT_WRITTEN] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", self.kinds or (self.kind,))

    @property
    def takes_code(self) -> bool:
        """Tell whether a folder's own code may replace the template's."""
        return self.code_flag or bool(self.code_with_inputs)
