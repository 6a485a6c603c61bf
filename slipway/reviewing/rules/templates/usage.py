"""A template before and after, and its use in the last days: its users, and their parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any, NamedTuple

from slipway.base.formatting import counted, few
from slipway.google.jobs import VertexJob
from slipway.google.live import Unknown
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.parameter_types import Scalar
from slipway.model.catalog.placeholders import fill, names
from slipway.model.catalog.template import OF_TEAM, Offer, Template
from slipway.model.findings.finding import Grade, Subject
from slipway.model.labels import Launched
from slipway.model.rules.study import every
from slipway.reviewing.change.change import DAYS, Change
from slipway.reviewing.change.edits import PLACE, JobFile
from slipway.reviewing.consequence import IT, Consequence
from slipway.reviewing.rules.table import ROWS, RowName, by_row, phrase, say, usual_grade

JOBS = f"Jobs of {IT}"


@dataclass(frozen=True)
class Usage:
    """Jobs of a template in the last days, unfinished ones among them."""

    jobs: tuple[VertexJob, ...]
    #: Why the ended ones are unknown, so that no use can't be claimed.
    unread: Unknown | None = None

    def having(self, fits: Callable[[VertexJob], bool]) -> Usage:
        return replace(self, jobs=tuple(job for job in self.jobs if fits(job)))

    def giving(self, parameter: str, fits: Callable[[object], bool]) -> Usage:
        return self.having(lambda job: fits((job.parameters or {}).get(parameter)))

    def words(self, did: str = "used it") -> str:
        """Return `3 submissions by 2 people used it in the last 30 days (ada 2 and ci 1)`; unknown use is told."""
        # One submission may have sent several jobs, each for its next offer.
        sent = {job.request_id or job.name: job.user or "somebody" for job in self.jobs}
        people = Counter(sent.values())
        whom = few((f"{who} {count}" for who, count in people.most_common()), most=4)
        values = {"by": next(iter(people), ""), "several": len(people) > 1, "people": len(people)}
        values |= {"sent": sent and counted(len(sent), "submission"), "unread": self.unread is not None}
        return say("template-used", did=did, days=DAYS, whom=whom, **values)


@dataclass(frozen=True)
class TemplateChange:
    """A template before and after."""

    change: Change
    #: Without parameters and offers where the template is new.
    old: Template
    new: Template
    is_new: bool = False

    @property
    def was(self) -> Catalog:
        return self.change.old

    @property
    def becomes(self) -> Catalog:
        return self.change.new

    @cached_property
    def used(self) -> Usage:
        jobs, recent = self.change.jobs_by_template, self.change.live.recent
        return Usage(tuple(jobs.get(self.new.name, ())), recent if isinstance(recent, Unknown) else None)

    @property
    def goes_on(self) -> bool:
        """Tell whether a job that is started again goes on, as far as its file says: code belies a new word."""
        new_word = self.is_new or not self.old.checkpoints
        return bool(self.new.checkpoints) and not (new_word and self.keeps_nothing)

    @cached_property
    def code(self) -> tuple[JobFile, ...]:
        """The files of its code's folder, as they become."""
        roots = tuple(f"jobs/{root}/" for root in folders(self.new))
        return tuple(code for file, code in self.change.files.code.items() if roots and file.startswith(roots))

    def reads(self, arguments: Iterable[str]) -> bool:
        """Tell whether its code names these arguments."""
        flags = frozenset[str]().union(*(code.flags for code in self.code))
        return all(any(flag.startswith(name.replace("--no-", "--", 1)) for flag in flags) for name in arguments)

    @property
    def keeps_nothing(self) -> bool:
        """Tell whether its code was read, and no line of it names a place that a job finds again."""
        return bool(self.code) and not any(PLACE in file.keeps for file in self.code)

    @property
    def pipeline_edited(self) -> bool:
        """Tell whether an edited file may be its pipeline, or name another one: a deployment fills in the rest."""
        declares = ("pipelines/", "templates/", "jobs/")
        return not self.change.files.touched or any(file.startswith(declares) for file in self.change.files.touched)

    def tells(
        self,
        row: RowName,
        *,
        part: str = "",
        used: Usage | None = None,
        details: Iterable[str] = (),
        grade: Grade | None = None,
        **values: Any,
    ) -> Consequence:
        """Return a row's consequence for the template, or a part. With `used`, users are named and set the grade."""
        if used is not None:
            did, grade = phrase(ROWS[row].get("did", "used it"), values), grade or usual_grade(ROWS[row])
            details = (*details, used.words(f"{did}{values.get('case', '')}"))
            grade = grade if used.jobs or used.unread else min(grade, Grade.WARNING)
        return by_row(row, Subject("template", self.new.name, part), details=details, grade=grade, **values)


def is_case(job: VertexJob, case: Mapping[str, tuple[Scalar, ...]]) -> bool:
    """Tell whether a job is of a case, as far as its record has the values."""
    values = {**(job.parameters or {}), OF_TEAM: job.team}
    return all(name not in values or values[name] in wanted for name, wanted in case.items())


def folders(template: Template) -> frozenset[str]:
    """Return the folders of `jobs/` whose modules its jobs start, and those that are packed with them."""
    return frozenset({start.file.split("/")[1] for start in started(template)} | {*(template.shared or ())})


class Start(NamedTuple):
    """The start of a role: its module, with arguments."""

    role: str
    #: The file of its module.
    file: str
    #: One that a single parameter fills in has each of its choices, or its default.
    arguments: frozenset[str]
    offer: Offer


def started(template: Template) -> Iterator[Start]:
    """Yield what each role of each offer starts."""
    for offer in template.offers:
        searched = [_trial(each) for each in every((offer.request.get("studySpec") or {}).get("parameters"))]
        usual = {each.name: (each.choices or (each.default,)) for each in template.parameters}
        usual |= {name: values for name, values in offer.when.items() if name in usual}
        for role, pool in zip_longest(offer.roles, offer.worker_pools):
            if launched := Launched.of((pool or {}).get("pythonPackageSpec") or {}):
                texts = {
                    fill(text, {name: value} if value is not None else {})
                    for text in (*launched.arguments, *searched)
                    for name in [*names(text), ""][:1]
                    for value in usual.get(name, (None,))
                }
                file = f"jobs/{launched.module.replace('.', '/')}.py"
                yield Start(role or "", file, frozenset(texts), offer)


def _trial(searched: Mapping[str, Any]) -> str:
    """Return an argument of a trial: of any number it has a value as the service writes that."""
    low = (searched.get("doubleValueSpec") or {}).get("minValue")
    return f"--{searched.get('parameterId')}{'' if low is None else f'={float(low)}'}"


def flag(argument: str) -> str:
    return argument.partition("=")[0]


def facts(*phrases: str) -> str:
    return "; ".join(filter(None, phrases))
