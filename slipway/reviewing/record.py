"""The record of a review: what an approval covers, in an artifact of the run that wrote the comment. Pure.

The artifact is named after the git tree of the merge result. The record is not in the comment, because anybody with
write access can edit a comment, but only a run of the review's own workflow can keep an artifact of that run. The
comment ends with the hash of its record, because such a person can also delete an artifact so that another one takes
its place. A changed comment or record needs a new approval.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from slipway.base.codec import from_json
from slipway.base.errors import ConfigError
from slipway.reviewing.review import Review, read_all, write


@dataclass(frozen=True)
class Record:
    """A record, as the JSON of its file."""

    body: Any

    @property
    def remark(self) -> str:
        """The end of the comment that was written with it."""
        return f"<!-- slipway-record {sha256(json.dumps(self.body, sort_keys=True).encode()).hexdigest()} -->"

    def reviews(self, tree: str) -> tuple[Review, ...]:
        """Return the reviews; none if the record is damaged, of another tree or of another version."""
        if not isinstance(self.body, dict) or self.body.get("tree") != tree:
            return ()
        try:
            return read_all(self.body.get("reviews"), "the record")
        except ConfigError:
            return ()


def record_of(reviews: Sequence[Review], tree: str) -> Record:
    """Return the record: keys and severities of findings, costs, and unknown parts.

    Sentences are left out: approvers have read them, and a deployment words them anew.
    """
    bodies = []
    for review in reviews:
        bare = tuple(
            replace(finding, sentence="", fix="", means="", facts={}, details=()) for finding in review.findings
        )
        kept = replace(review, findings=bare, settings=(), differences=(), standing=(), plan=(), quoted=())
        bodies.append(write(kept))
    return Record({"tree": tree, "reviews": bodies})


def written_with(comment: str, records: Iterable[Record]) -> Record | None:
    """Return the record that a comment was written with; None without it. Several may have its name."""
    return next((record for record in records if comment.rstrip().endswith(record.remark)), None)


def unpacked(packed: bytes, name: str) -> Record:
    """Return the one file of an artifact; an empty record if it has another."""
    import zipfile  # It takes time, and only a deployment needs it.

    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive, archive.open(name) as file:
            return Record(from_json(file.read(32_000_000)))
    except Exception:  # Each way of packing has errors of its own.
        return Record(None)


def name_of(tree: str, folder: str) -> str:
    """Return the name of the artifact and of its one file, fit for a URL.

    Each of several projects in a repository has its own.
    """
    if not folder:
        return f"slipway-review-{tree}.json"
    named = quote(folder, safe="").replace("%", "~")
    return f"slipway-review-{tree}-{named}.json"
