"""The record of a review: what an approval covers, in an artifact of the run that told it. Pure.

It lies there, by the name of the merge result's git tree, and not in the comment: whoever may write to a repository can
write anything into a comment, and only a run of the review's own workflow keeps an artifact of that run. It has no
sentences: approvers have read those, and a deployment words them anew.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from slipway.base.codec import from_json
from slipway.base.errors import ConfigError
from slipway.reviewing.review import Review, read_all, write

NOT_YET = "9999"
"""The time of a record that the run is yet to keep: every approval there is was given before."""


@dataclass(frozen=True)
class Record:
    """The text of a record. `at`: when its artifact was made, RFC 3339 in UTC, which sorts as text."""

    text: str
    at: str = NOT_YET

    def reviews(self, tree: str) -> tuple[Review, ...]:
        """Return the reviews; none where it is damaged, of another tree, or of a version that wrote it otherwise."""
        try:
            body = from_json(self.text)
            of_tree = isinstance(body, dict) and body.get("tree") == tree
            return read_all(body.get("reviews"), "the record") if of_tree else ()
        except (ConfigError, ValueError, RecursionError):
            return ()


def name_of(tree: str, folder: str) -> str:
    """Return the name of the artifact and of its one file: each of several projects in a repository has its own."""
    named = quote(folder.removeprefix("./").strip("/"), safe="")
    return f"slipway-review-{tree}.json" if named in ("", ".") else f"slipway-review-{tree}-{named}.json"


def text_of(reviews: Sequence[Review], tree: str) -> str:
    return json.dumps({"tree": tree, "reviews": [write(_bare(review)) for review in reviews]})


def _bare(review: Review) -> Review:
    bare = tuple(replace(one, sentence="", clause="", details=()) for one in review.consequences)
    return replace(review, consequences=bare, standing=(), plan=(), quoted=())
