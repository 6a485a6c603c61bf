"""The record of a review: what an approval covers, in an artifact of the run that told it. Pure.

It lies there, by the name of the merge result's git tree, and not in the comment: whoever may write to a repository can
write anything into a comment, and only a run of the review's own workflow keeps an artifact of that run. The comment
ends with its record's hash, as such a person may also delete an artifact, so that another one stands in for it. So what
was approved is what was read: who changes the comment, or the record, has it approved anew.
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
        """Return the reviews; none where it is damaged, of another tree, or of a version that wrote it otherwise."""
        if not isinstance(self.body, dict) or self.body.get("tree") != tree:
            return ()
        try:
            return read_all(self.body.get("reviews"), "the record")
        except ConfigError:
            return ()


def record_of(reviews: Sequence[Review], tree: str) -> Record:
    """Return the record, without sentences: approvers have read those, and a deployment words them anew."""
    bodies = []
    for review in reviews:
        bare = tuple(replace(part, does="", so="", instead="", edits=(), details=()) for part in review.consequences)
        bodies.append(write(replace(review, consequences=bare, standing=(), plan=(), quoted=())))
    return Record({"tree": tree, "reviews": bodies})


def written_with(comment: str, records: Iterable[Record]) -> Record | None:
    """Return the record that a comment was written with, whatever else has its name."""
    return next((record for record in records if comment.rstrip().endswith(record.remark)), None)


def unpacked(packed: bytes, name: str) -> Record:
    """Return the one file of an artifact; a record of nothing where it has another."""
    import zipfile  # It takes time, and only a deployment needs it.

    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive, archive.open(name) as file:
            return Record(from_json(file.read(32_000_000)))
    except Exception:  # Each way of packing has errors of its own.
        return Record(None)


def name_of(tree: str, folder: str) -> str:
    """Return the name of the artifact and of its one file: each of several projects in a repository has its own. It
    can stand in an address as it is."""
    named = quote(folder, safe="").replace("%", "~")
    return f"slipway-review-{tree}-{named}.json" if folder else f"slipway-review-{tree}.json"
