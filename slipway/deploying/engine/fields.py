"""Fields of buckets and accounts: what follows for people when one appears, goes, rises, falls or changes. Pure.

A phrase follows "Bucket `x`" or "Account `x`". A new field is a row of `BUCKET_FIELDS` or `ACCOUNT_FIELDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from slipway.base.formatting import last_part, span
from slipway.deploying.engine.lifecycle import LEAST_DAYS, Effect, cost_of_class, lifecycle, mapping
from slipway.deploying.engine.touched import said
from slipway.model.findings.finding import Grade

_NOTE, _WARNING, _BLOCKING = Grade.NOTE, Grade.WARNING, Grade.BLOCKING
_WEEK = 7 * 86400.0
_USUAL, _ENFORCED = "STANDARD", "enforced"
_RETENTION, _VERSIONS = "retention-changed", "versioning-changed"


Rule = Callable[[Any, Any], Iterator[Effect]]


def _on(value: Any) -> bool:
    if isinstance(value, Mapping) and {"enabled", "mode"} & value.keys():
        return value.get("enabled") is True or value.get("mode") == "Enabled"
    return value == _ENFORCED if isinstance(value, str) else bool(value)


@dataclass(frozen=True)
class Field:
    """A row. An effect that is None is told elsewhere, or means nothing."""

    appears: Effect | None = None
    goes: Effect | None = None
    #: From one value to another, where that is not as if it appeared.
    changes: Effect | None = None
    #: To a smaller number.
    falls: Effect | None = None
    value: Callable[[Any], Any] = _on
    text: Callable[[Any], str] = said

    def __call__(self, before: Any, after: Any) -> Iterator[Effect]:
        old, new = self.value(before), self.value(after)
        if old == new:
            return
        effect = self.appears if not old else self.goes if not new else self.changes or self.appears
        if isinstance(old, float) and 0 < new < old:
            effect = self.falls
        if effect:
            texts = {"old": self.text(old), "new": self.text(new)}
            yield replace(effect, does=effect.does.format(**texts), so=effect.so.format(**texts))


def _plain(does: str, so: str = "", grade: Grade = _NOTE) -> Field:
    """Return the row for a value that is told alike, however it changes."""
    effect = Effect(does, so, grade)
    return Field(effect, effect, value=lambda value: value)


def _either(*fields: Field) -> Rule:
    return lambda before, after: iter([effect for field in fields for effect in field(before, after)][:1])


def _seconds(key: str, default: float = 0.0) -> Callable[[Any], float]:
    """Return the reader of a policy's seconds; the default for an unset or unknown value."""

    def read(policy: Any) -> float:
        try:
            return float(mapping(policy)[key])
        except (KeyError, TypeError, ValueError):
            return default

    return read


def _locked(policy: Any) -> float:
    return _seconds("retentionPeriod")(policy) if mapping(policy).get("isLocked") else 0.0


def _storage_class(before: Any, after: Any) -> Iterator[Effect]:
    old, new = str(before or _USUAL), str(after or _USUAL)
    if old != new:
        grade = _WARNING if LEAST_DAYS.get(new, 0) > LEAST_DAYS.get(old, 0) else _NOTE
        yield Effect(f"stores new objects as {said(new)}, until now as {said(old)}", cost_of_class(new), grade)


def _policy(before: Any, after: Any) -> Iterator[Effect]:
    if "PREVENT" not in (before, after):  # `fates.unguarded` reports that.
        does = "stays in the cloud" if after == "ABANDON" else "is deleted"
        yield Effect(f"{does} when it leaves the stack")


_KEEPS_LONGER = Effect(
    "lets nobody overwrite or delete an object for {new}",
    "jobs that write a file twice, as checkpoints are, fail",
    _BLOCKING,
    "keep such a policy to a bucket that no job writes to",
    _RETENTION,
)
_KEEPS_LESS = Effect(
    "lets objects be deleted after {new}, until now after {old}",
    "whoever may delete them, or a rule that does, then gets rid of them sooner",
    _BLOCKING,
    "keep the longer time where an audit asks for it",
    _RETENTION,
)
_KEY = Effect(
    "encrypts new objects with key {new}",
    "not known: whether Cloud Storage may use it, else every write fails",
    _WARNING,
    "let the project's Cloud Storage agent use the key first (`roles/cloudkms.cryptoKeyEncrypterDecrypter`), and never "
    "destroy it: what it encrypted is lost with it",
)
_SOFT = Effect(
    "keeps what is deleted or written over for {new}, until now for {old}",
    "it is paid for that long, each checkpoint that a later one replaces too",
    instead="keep the shorter time where checkpoints are large",
    kind=_RETENTION,
)

FIELDS: Mapping[str, Rule] = {
    "lifecycleRules": lifecycle,
    "retentionPolicy": _either(
        Field(
            Effect(
                "keeps each object for {new}, for good",
                "nobody can delete one sooner, stop paying for it, or take this back",
                _BLOCKING,
                "leave it unlocked: it protects as well, and can be shortened",
                _RETENTION,
            ),
            value=_locked,
            text=span,
        ),
        Field(
            _KEEPS_LONGER,
            replace(_KEEPS_LESS, does="lets objects be deleted at once, until now after {old}"),
            falls=_KEEPS_LESS,
            value=_seconds("retentionPeriod"),
            text=span,
        ),
    ),
    "softDeletePolicy": Field(
        replace(_SOFT, so="a deletion by mistake can be undone, and is paid, for that long", instead=""),
        replace(
            _SOFT,
            does="keeps nothing that is deleted, until now for {old}",
            so="a deletion by mistake can't be undone",
            grade=_BLOCKING,
            instead="keep some days: only what is deleted is paid for",
        ),
        falls=replace(
            _SOFT,
            so="a deletion by mistake can be undone for that time alone",
            grade=_BLOCKING,
            instead="keep the days",
        ),
        changes=_SOFT,
        # By default, the cloud keeps deleted objects for a week.
        value=_seconds("retentionDurationSeconds", _WEEK),
        text=span,
    ),
    "versioning": Field(
        Effect(
            "keeps and bills earlier versions of what jobs overwrite or delete",
            "a checkpoint that is written over each hour is paid as often, until a rule deletes old versions",
            _WARNING,
            "let a lifecycle rule delete them (`numNewerVersions`, `daysSinceNoncurrentTime`)",
            _VERSIONS,
        ),
        Effect(
            "keeps no earlier versions of what is overwritten or deleted",
            "what a mistake or a job writes over is lost",
            _BLOCKING,
            "keep versions, and let a lifecycle rule delete the old ones",
            _VERSIONS,
        ),
    ),
    "publicAccessPrevention": Field(
        Effect("can't be opened to the public any more"),
        Effect(
            "may be opened to the public",
            "one wrong grant shows it to the internet",
            _BLOCKING,
            "keep it `enforced`, and give single files by signed URLs",
            "public-prevention-off",
        ),
    ),
    "uniformBucketLevelAccess": Field(
        Effect(
            "shuts out whoever may read single objects alone",
            "their own lists count no more",
            _WARNING,
            "give those people a role on the bucket first",
        ),
        Effect(
            "lets single objects be opened to anybody, past who may read the bucket",
            "no policy of the bucket shows who got in",
            _BLOCKING,
            "keep it on, and put what others may read into a bucket of its own",
        ),
    ),
    "encryption": Field(
        _KEY,
        Effect("encrypts new objects with Google's key, no longer with yours ({old})", grade=_WARNING),
        value=lambda encryption: mapping(encryption).get("defaultKmsKeyName"),
        text=lambda key: f"`{last_part(str(key))}`",
    ),
}
"""The fields that keep or open a bucket's objects: doctor compares them even where the cloud sets them."""
BUCKET_FIELDS: Mapping[str, Rule] = {
    **FIELDS,
    "autoclass": Field(
        Effect("moves objects that nobody reads to cheaper classes by itself, for a fee"),
        Effect("moves objects to cheaper classes by itself no more"),
    ),
    "cors": _plain("lets pages of other sites read it, as its list of them says"),
    "customPlacementConfig": _plain("lies in other regions", grade=_WARNING),
    "defaultEventBasedHold": Field(
        Effect(
            "lets nobody overwrite or delete a new object until its hold is released",
            "jobs that do, as with checkpoints, fail",
            _BLOCKING,
            "hold single objects instead",
        ),
        Effect("puts no hold on new objects", "they may be deleted at once", _BLOCKING),
    ),
    "deletionPolicy": _policy,
    "enableObjectRetention": Field(
        Effect("lets single objects be kept from deletion"), Effect("keeps none from deletion")
    ),
    # `fates.unguarded` reports the other direction.
    "forceDestroy": Field(None, Effect("can't be deleted any more while anything is in it")),
    "hierarchicalNamespace": _plain("has folders of another kind", grade=_WARNING),
    "ipFilter": Field(
        Effect(
            "answers listed addresses alone",
            "jobs and people elsewhere are refused",
            _BLOCKING,
            "list the clusters' and the people's networks first",
        ),
        Effect("answers requests from any address", "a leaked key is enough to read it", _BLOCKING),
    ),
    "labels": _plain("has other labels, which bills and searches go by"),
    "location": _plain(
        "lies in {new}, until now in {old}", "jobs elsewhere read more slowly, and pay for it", _BLOCKING
    ),
    "logging": Field(
        Effect("has its reads logged in another bucket"), Effect("has no log of who reads it", grade=_WARNING)
    ),
    "name": _plain("is called {new}, until now {old}", "whatever names the old one finds nothing", _BLOCKING),
    "project": _plain("belongs to project {new}, until now {old}", "that one pays", _BLOCKING),
    "requesterPays": Field(
        Effect(
            "bills whoever reads it",
            "jobs and people that name no project are refused",
            _BLOCKING,
            "leave it off: a job names none",
        ),
        Effect("bills its owner for reads"),
    ),
    "rpo": _plain("copies objects to its second region by {new}, until now {old}"),
    "storageClass": _storage_class,
    "website": _plain("answers as another website"),
}
"""The rules by a bucket's input, in the provider's spelling."""

_CALLED = _plain("is called otherwise", "it may do what it did")
_NO_RIGHTS = "it has none of the rights of the one before, and jobs that need them fail"
ACCOUNT_FIELDS: Mapping[str, Rule] = {
    "accountId": _plain("becomes another account", _NO_RIGHTS, _BLOCKING),
    "createIgnoreAlreadyExists": Field(
        Effect("is taken as it is where there is one"), Effect("must not be there before")
    ),
    "deletionPolicy": _policy,
    "description": _CALLED,
    "disabled": Field(
        Effect(
            "is disabled",
            "whatever signs in as it fails",
            _BLOCKING,
            "wait until they have ended; it can be enabled again",
        ),
        Effect("is enabled again", "whoever may act as it gets in", _WARNING),
    ),
    "displayName": _CALLED,
    "project": _plain("moves to another project", _NO_RIGHTS, _BLOCKING),
}
"""The same for an account, whose findings are of kind `resource-changed`."""
