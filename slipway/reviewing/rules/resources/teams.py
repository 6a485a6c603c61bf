"""Teams' clusters: those who can't send jobs to a cluster any more, and those who can."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.model.catalog.model import Catalog
from slipway.model.facts import Facts
from slipway.model.findings.finding import Subject
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.usual import without_cluster
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.words import named


def teams(change: Change) -> Iterator[Consequence]:
    """Compare the users of each cluster, as far as they may submit before and after."""
    stay = set(change.before.people) & set(change.after.people)
    for cluster in change.new.clusters.keys() & change.old.clusters.keys():
        was, now = _users(change.before, cluster) & stay, _users(change.after, cluster) & stay
        owners = change.new.owners(cluster)
        for row, members in (("cluster-team-closed", was - now), ("cluster-team-opened", now - was)):
            if members:
                elsewhere = "; ".join(without_cluster(change.new, cluster)) or "no template is for it"
                yield by_row(
                    row,
                    Subject("cluster", cluster),
                    who=named(f"`{member}`" for member in sorted(members)),
                    of=f"of team {named(f'`{owner}`' for owner in owners)}" if owners else "everybody's",
                    elsewhere=elsewhere,
                    field=f"slipway:teams.{owners[0]}.clusters" if owners else "slipway:teams",
                    details=tuple(f"`{member}`" for member in sorted(members)),
                )


def field_of(catalog: Catalog, member: str) -> str:
    """Return the key that lists a submitter as a team's; empty where none does."""
    of = next((name for name, team in catalog.teams.items() if member in team.submitters), "")
    return of and f"slipway:teams.{of}.submitters"


def _users(facts: Facts, cluster: str) -> set[str]:
    owners = facts.catalog.owners(cluster)
    members = {member for owner in owners for member in facts.catalog.teams[owner].submitters}
    return members if owners else set(facts.people)
