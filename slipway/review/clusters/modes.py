"""What the stack file says of how a cluster is changed, made and let go, and what makes no other cluster of it."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.catalog.clusters import Cluster, DormantCluster
from slipway.creation.creation_context import CreationPolicy
from slipway.findings.finding import Finding, Grade
from slipway.formatting import join, span
from slipway.review.change import Change
from slipway.review.clusters.clusters import told
from slipway.review.words import Edit


def modes(change: Change) -> Iterator[Finding]:
    if change.old is None or change.new is None:
        return
    before, after = ({**one.clusters, **one.dormant} for one in (change.old, change.new))
    for name, old in before.items():
        new = after.get(name)
        # A catalog of an earlier version did not tell them.
        if new is not None and old.display_name and (found := list(_edits(old, new))):
            same = old.id == new.id or isinstance(new, DormantCluster)
            words = f"`{name}`: {join(map(str, found))}{'; nothing that runs changes' if same else ''}"
            grade = None if old.replacement != new.replacement else Grade.NOTE
            yield told("cluster-protection", name, words, grade=grade, edits=found)


def _edits(old: Cluster, new: Cluster) -> Iterator[Edit]:
    if old.replacement != new.replacement:
        yield Edit("replacement", old.replacement, new.replacement)
    for key, before, after, left_out in (
        ("retireWithin", old.retire_within, new.retire_within, ""),  # Left out, `up` never warns.
        ("createWithin", old.create_within, new.create_within, f"{span(CreationPolicy.refused)} (default)"),
    ):
        if before != after:
            yield Edit(key, *(span(one) if one else left_out for one in (before, after)))
