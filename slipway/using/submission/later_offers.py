"""The offers after a waiting attempt, by the catalog at that time: in a wait of hours it may be published anew."""

from __future__ import annotations

from dataclasses import dataclass, replace

from slipway.base.errors import ConfigError
from slipway.model.catalog.placeholders import render
from slipway.using.context import Context
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.prepared import PreparedSubmission, prepare
from slipway.using.submission.same_request import differing


@dataclass(frozen=True)
class LaterOffers:
    """The candidates after an attempt's."""

    #: Has the catalog of these candidates.
    context: Context
    prepared: PreparedSubmission
    #: The place among the candidates of `prepared` of the last one tried, and -1 where all tried ones are gone.
    place: int
    #: The labels of the attempt's candidate and those before it, from the time of sending: a later catalog may lack
    #: them, and the one after that have them again.
    tried: tuple[str, ...]

    @classmethod
    def after(cls, context: Context, prepared: PreparedSubmission, place: int) -> LaterOffers:
        tried = tuple(candidate.label for candidate in prepared.candidates[: place + 1])
        return cls(context=context, prepared=prepared, place=place, tried=tried)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        return self.prepared.candidates[self.place + 1 :]

    @property
    def first(self) -> int:
        """The place of the first candidate that the next attempt may take."""
        return min(self.place + 1, len(self.prepared.candidates) - 1)

    def anew(self) -> LaterOffers:
        """Return the same submission by the catalog as it is published now; itself while the catalog is the same.

        Raises CloudError and ConfigError when the catalog can't be read, and ConfigError or PolicyError when it no
        longer has anything that was asked for, or makes another job of it.
        """
        context = self.context.anew()
        if context.catalog == self.prepared.catalog:
            return self
        then = self.prepared
        # A submission counts for one team, by whichever offer it starts.
        prepared = prepare(context.catalog, then.asked, then.user, counts_for=then.team).under(then.request_id)
        _require_same(then, prepared)
        labels = [candidate.label for candidate in prepared.candidates]
        place = next((labels.index(label) for label in reversed(self.tried) if label in labels), -1)
        later = replace(self, context=context, prepared=prepared, place=place)
        if not later.candidates:
            raise ConfigError(
                f"{prepared.template.name} has no other capacity type any more",
                why=f"the catalog that was published meanwhile has {', '.join(labels)}",
                fix="have one added to the template, or wait",
            )
        return later


def _require_same(then: PreparedSubmission, now: PreparedSubmission) -> None:
    """Raise ConfigError where the next attempt would be another job, as its template has changed, and PolicyError where
    the template no longer takes a folder's code."""
    unset = dict.fromkeys((*then.values, *now.values), "none")
    ours, theirs = (
        {"kind": each.kind.words, **unset, **{name: render(value) for name, value in each.values.items()}}
        for each in (then, now)
    )
    if then.overrides.package:
        from slipway.authoring.packages.packing import modules

        ours["runs"], theirs["runs"] = (", ".join(modules(prepared.template)) for prepared in (then, now))
    if differences := differing(ours, theirs):
        raise ConfigError(
            f"template {now.template.name} was deployed anew, and this submission would be another job by it",
            why="\n".join(differences),
            fix="cancel it, and submit it again",
        )
