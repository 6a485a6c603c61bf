"""Fields of buckets: what follows for whoever keeps something in one, as `Bucket `x` …` goes on. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from slipway.findings.finding import Grade
from slipway.formatting import counted, join, span
from slipway.review.touched import said

_DAY = 86400
_COLD: Mapping[str, int] = {"NEARLINE": 30, "COLDLINE": 90, "ARCHIVE": 365}
"""Days for which an object is paid at least, by the storage class that it has."""
_USUAL, _ENFORCED = "STANDARD", "enforced"
_VERSIONS = "versioning-changed"
Telling = tuple[str, str, Grade | None]
"""Kind, what the bucket does from now on, and the grade where it is not the usual one."""
Rule = Callable[[Any, Any], Iterator[Telling]]


def _lifecycle(before: Any, after: Any) -> Iterator[Telling]:
    old, new = ([one for one in some or () if isinstance(one, Mapping)] for some in (before, after))
    gone, added = [one for one in old if one not in new], [one for one in new if one not in old]
    if not (gone or added):
        return
    worse = [one for one in added if _deletes(one) and not any(_milder(one, each) for each in gone)]
    words = join([*(f"no longer {_rule(one)}" for one in gone), *map(_rule, added)])
    if len(gone) == len(added) == 1 and gone[0].get("action") == added[0].get("action"):
        until = _when(gone[0]) if _what(gone[0]) == _what(added[0]) else f"{_what(gone[0])} {_when(gone[0])}".rstrip()
        words = f"{_rule(added[0])}, until now {until}"
    if any(_mapping(one.get("condition")).get("age") for one in worse):
        words += ": what is older goes at once"
    elif not added:
        words += ": they stay, and are paid for"
    cold = [_mapping(one.get("action")).get("storageClass") for one in added]
    yield "lifecycle-changed", words + next(filter(None, map(_costs, cold)), ""), None if worse else Grade.WARNING


def _milder(rule: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Tell whether it deletes the same later."""
    new, old = (dict(_mapping(one.get("condition"))) for one in (rule, before))
    later = (new.pop("age", None) or 0) > (old.pop("age", None) or 0)
    return rule.get("action") == before.get("action") and new == old and later


def _deletes(rule: Mapping[str, Any]) -> bool:
    return bool(_mapping(rule.get("action")).get("type") == "Delete")


def _rule(body: Mapping[str, Any]) -> str:
    """deletes `claims/` after 30 days"""
    action = _mapping(body.get("action"))
    does, to = str(action.get("type")), ""
    if _deletes(body):
        does = "deletes"
    elif does == "SetStorageClass":
        does, to = "moves", f" to {said(action.get('storageClass'))}"
    return f"{does} {_what(body)}{to} {_when(body)}".rstrip()


def _what(body: Mapping[str, Any]) -> str:
    condition = _mapping(body.get("condition"))
    ends = [*condition.get("matchesPrefixes", ()), *(f"…{one}" for one in condition.get("matchesSuffixes", ()))]
    return join(f"`{one}`" for one in ends) if ends else "every object"


def _when(body: Mapping[str, Any]) -> str:
    condition, words = dict(_mapping(body.get("condition"))), []
    for key in ("matchesPrefixes", "matchesSuffixes"):
        condition.pop(key, None)
    if (age := condition.pop("age", None)) is not None:
        words.append(f"after {counted(age, 'day')}" if age else "at once")
    if (newer := condition.pop("numNewerVersions", None)) is not None:
        words.append(f"with {counted(newer, 'newer version')}")
    if (days := condition.pop("daysSinceNoncurrentTime", None)) and condition.pop("withState", None):
        words.append(f"{counted(days, 'day')} after it was written over")
    rest = [f"{key} {said(value)}" for key, value in condition.items() if value not in (None, "", 0, False, [], "ANY")]
    return " ".join([*words, *([f"({', '.join(rest)})"] if rest else [])])


def _retention(before: Any, after: Any) -> Iterator[Telling]:
    old, new = (_seconds(one, "retentionPeriod") or 0 for one in (before, after))
    if _mapping(after).get("isLocked") and not _mapping(before).get("isLocked"):
        words = f"keeps each object for {span(new)}, for good: nobody can delete one sooner, nor stop paying for it"
        yield "retention-changed", words, None
    elif new > old:
        words = f"lets nobody overwrite or delete an object for {span(new)}: jobs that write a file twice fail"
        yield "retention-changed", words, None
    elif new < old:
        words = f"lets objects be deleted {f'after {span(new)}' if new else 'at once'}, until now after {span(old)}"
        yield "retention-changed", words, None


def _soft_delete(before: Any, after: Any) -> Iterator[Telling]:
    # Where nothing is said, the cloud keeps what is deleted for a week.
    old, new = (_seconds(one, "retentionDurationSeconds") for one in (before, after))
    old, new = (7 * _DAY if one is None else one for one in (old, new))
    if new > old:
        words = f"keeps deleted objects for {span(new)}, paid as before, until now for {span(old)}"
        yield "retention-changed", words, Grade.NOTE
    elif new:
        yield from _if(new < old, f"keeps deleted objects for {span(new)} alone, until now for {span(old)}")
    else:
        yield from _if(old, f"keeps nothing that is deleted, which could be brought back for {span(old)}")


def _if(is_so: object, words: str) -> Iterator[Telling]:
    if is_so:
        yield "retention-changed", words, None


def _encryption(before: Any, after: Any) -> Iterator[Telling]:
    old, new = (_mapping(one).get("defaultKmsKeyName") for one in (before, after))
    if new and old != new:
        key = str(new).rpartition("/")[2]
        words = (
            f"encrypts new objects with key `{key}`: nobody looked whether Cloud Storage may use it, else writes fail"
        )
        yield "bucket-changed", words, None
    elif old and not new:
        key = str(old).rpartition("/")[2]
        yield "bucket-changed", f"encrypts new objects with Google's key, no longer with yours (`{key}`)", None


def _storage_class(before: Any, after: Any) -> Iterator[Telling]:
    if (before or _USUAL) == (after or _USUAL):
        return
    colder = _COLD.get(str(after), 0) > _COLD.get(str(before), 0)
    words = f"stores new objects as {said(after or _USUAL)}, until now as {said(before or _USUAL)}{_costs(after)}"
    yield "bucket-changed", words, Grade.WARNING if colder else Grade.NOTE


def _costs(storage_class: Any) -> str:
    days = _COLD.get(str(storage_class))
    return f": each read costs extra, and {days} days are paid at least" if days else ""


def _policy(before: Any, after: Any) -> Iterator[Telling]:
    if before == "PREVENT" or after == "PREVENT":
        return  # `fates.unguarded` tells of it.
    words = (
        "stays in the cloud when it leaves the stack" if after == "ABANDON" else "is deleted when it leaves the stack"
    )
    yield "bucket-changed", words, Grade.NOTE


def _switch(on: Telling | None, off: Telling) -> Rule:
    """Tell of what is switched on or off; of None somebody else does."""

    def told(before: Any, after: Any) -> Iterator[Telling]:
        if _on(before) != _on(after) and (telling := on if _on(after) else off):
            yield telling

    return told


def _changed(words: str, grade: Grade | None = Grade.NOTE) -> Telling:
    return "bucket-changed", words, grade


def _on(value: Any) -> bool:
    if isinstance(value, Mapping) and {"enabled", "mode"} & value.keys():
        return value.get("enabled") is True or value.get("mode") == "Enabled"
    return value == _ENFORCED if isinstance(value, str) else bool(value)


def _plain(words: str, grade: Grade = Grade.NOTE) -> Rule:
    return lambda before, after: iter([_changed(words.format(said(before), said(after)), grade)])


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _seconds(value: Any, key: str) -> float | None:
    """Return seconds; None where nothing is set, or what is set is not known yet."""
    try:
        return float(_mapping(value)[key])
    except (KeyError, TypeError, ValueError):
        return None


FIELDS: Mapping[str, Rule] = {
    "lifecycleRules": _lifecycle,
    "retentionPolicy": _retention,
    "softDeletePolicy": _soft_delete,
    "versioning": _switch(
        (_VERSIONS, "keeps and bills earlier versions of what jobs overwrite or delete", Grade.WARNING),
        (_VERSIONS, "keeps no earlier versions of what is overwritten or deleted", None),
    ),
    "publicAccessPrevention": _switch(
        _changed("can't be opened to the public any more"),
        ("public-prevention-off", "may be opened to the public: one wrong grant shows it to the internet", None),
    ),
    "uniformBucketLevelAccess": _switch(
        _changed("shuts out whoever may read single objects alone: their own lists count no more", None),
        _changed("lets single objects be opened to anybody, past who may read the bucket", Grade.BLOCKING),
    ),
    "encryption": _encryption,
}
"""Those that keep or open what is in it: doctor compares them even where the program leaves them to the cloud."""
RULES: Mapping[str, Rule] = {
    **FIELDS,
    "autoclass": _switch(
        _changed("moves objects that nobody reads to cheaper classes by itself, for a fee"),
        _changed("moves objects to cheaper classes by itself no more"),
    ),
    "cors": _plain("lets pages of other sites read it, as its list of them says"),
    "customPlacementConfig": _plain("lies in other regions", Grade.WARNING),
    "defaultEventBasedHold": _switch(
        _changed(
            "lets nobody overwrite or delete a new object until its hold is released: jobs that do fail", Grade.BLOCKING
        ),
        _changed("puts no hold on new objects, which may be deleted at once", Grade.BLOCKING),
    ),
    "deletionPolicy": _policy,
    "enableObjectRetention": _switch(
        _changed("lets single objects be kept from deletion"), _changed("keeps none from deletion")
    ),
    # The other way is what `fates.unguarded` tells.
    "forceDestroy": _switch(None, _changed("can't be deleted any more while anything is in it")),
    "hierarchicalNamespace": _plain("has folders of another kind", Grade.WARNING),
    "ipFilter": _switch(
        _changed("answers listed addresses alone: jobs and people elsewhere are refused", Grade.BLOCKING),
        _changed("answers requests from any address", Grade.BLOCKING),
    ),
    "labels": _plain("has other labels, which bills and searches go by"),
    "location": _plain(
        "lies in {1}, until now in {0}: jobs elsewhere read more slowly, and pay for it", Grade.BLOCKING
    ),
    "logging": _switch(
        _changed("has its reads logged in another bucket"), _changed("has no log of who reads it", Grade.WARNING)
    ),
    "name": _plain("is called {1}, until now {0}", Grade.BLOCKING),
    "project": _plain("belongs to project {1}, until now {0}: that one pays", Grade.BLOCKING),
    "requesterPays": _switch(
        _changed("bills whoever reads it: jobs and people that name no project are refused", Grade.BLOCKING),
        _changed("bills its owner for reads"),
    ),
    "rpo": _plain("copies objects to its second region by {1}, until now {0}"),
    "storageClass": _storage_class,
    "website": _plain("answers as another website"),
}
"""By a bucket's input, as the provider calls it."""
