"""Where a stack lives. A cluster, a bucket and an account never move, so neither does a stack that has any."""

from __future__ import annotations

from dataclasses import dataclass

from slipway.errors import ConfigError
from slipway.formatting import join
from slipway.state import State


def refuse_move(known: State, *, stack: str, project: str, region: str) -> None:
    """Raises ConfigError when the stack has something in another project or region than it is to be deployed to."""
    elsewhere = [one for one in _placed(known, project, region) if one.project != project or one.region != region]
    if not elsewhere:
        return
    old = max(elsewhere, key=lambda one: one.region != region)  # the region too, where that was edited
    keys = (("gcp:project", old.project, project), ("gcp:region", old.region, region))
    edited = [(key, was, now) for key, was, now in keys if was != now]
    was, now = join(was for _, was, _ in edited), join(now for _, _, now in edited)
    back = join(f"{key}: {was}" for key, was, _ in edited)
    raise ConfigError(
        f"stack {stack} lives in {was} and can't move to {now}, so nothing was changed",
        why=f"it has {join(one.words for one in elsewhere)} there; moving would delete them, and stop the jobs that "
        "run on them",
        fix=f"put {back} back into stacks/Pulumi.{stack}.yaml\n"
        f"or give {now} a stack of its own: a file stacks/Pulumi.NAME.yaml, then pulumi stack init NAME and pulumi up\n"
        f"or, with {back} put back, take this one down before it is made anew:\n"
        f"SLIPWAY_PURPOSE=destroy pulumi destroy --run-program --stack {stack}",
    )


def stack_locations(known: State, project: str, region: str) -> tuple[tuple[str, str], ...]:
    """Projects and regions where clusters of the stack may be: where it is configured to be, and where it has any."""
    others = {(one.project, one.region) for one in known.clusters if one.project and one.region}
    return ((project, region), *sorted(others - {(project, region)}))


@dataclass(frozen=True)
class _Placed:
    words: str
    project: str
    region: str


def _placed(known: State, project: str, region: str) -> list[_Placed]:
    """All that is somewhere. What the state does not say of a place is taken to be as configured."""
    return [
        _Placed(words, where or project, at or region)
        for words, where, at in (
            *((f"cluster {one.id}", one.project, one.region) for one in known.clusters),
            *((f"bucket {one.name}", one.project, one.region) for one in known.buckets),
            *((f"account {one.email}", one.project, "") for one in known.accounts),
        )
    ]
