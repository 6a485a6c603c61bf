"""Fields of buckets: their effect on people with objects there, in the form that follows `Bucket `x``. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from slipway.base.formatting import counted, join, last_part, span
from slipway.deploying.engine.touched import said
from slipway.model.findings.finding import Grade

_DAY = 86400
_COLD: Mapping[str, int] = {"NEARLINE": 30, "COLDLINE": 90, "ARCHIVE": 365}
"""The least days that an object is paid for, by its storage class."""
_USUAL, _ENFORCED = "STANDARD", "enforced"
_CHANGED, _RETENTION, _VERSIONS = "bucket-changed", "retention-changed", "versioning-changed"


class BucketEffect(NamedTuple):
    """An edit of a bucket in a finding's words."""

    #: The finding's kind.
    kind: str
    #: The new effect, which follows "Bucket `x`".
    does: str
    #: Its consequence for people with objects there.
    then: str = ""
    #: The effect until now.
    until: str = ""
    #: The finding's grade, where it is not its kind's.
    grade: Grade | None = None
    #: Whether a rule deletes every object, whatever its name.
    of_all: bool = False

    def __str__(self) -> str:
        until, then = f", until now {self.until}" if self.until else "", f": {self.then}" if self.then else ""
        return f"{self.does}{until}{then}"


Rule = Callable[[Any, Any], Iterator[BucketEffect]]


def _lifecycle(before: Any, after: Any) -> Iterator[BucketEffect]:
    old, new = ([rule for rule in rules or () if isinstance(rule, Mapping)] for rules in (before, after))
    gone = [rule for rule in old if rule not in new]
    added = [rule for rule in new if rule not in old]
    if not (gone or added):
        return
    worse = [rule for rule in added if _deletes(rule) and not any(_milder(rule, earlier) for earlier in gone)]
    does = join([*(f"no longer {_rule(rule)}" for rule in gone), *map(_rule, added)])
    until, then = "", list[str]()
    # One rule in the place of another of the same action is an edit, which one sentence tells.
    if len(gone) == len(added) == 1 and gone[0].get("action") == added[0].get("action"):
        until = _when(gone[0]) if _what(gone[0]) == _what(added[0]) else f"{_what(gone[0])} {_when(gone[0])}".rstrip()
        does = _rule(added[0])
    if any(_mapping(rule.get("condition")).get("age") for rule in worse):
        then = ["what is older goes at once"]
    elif not added:
        then = ["they stay, and are paid for"]
    # Several rules may move objects to colder classes: the costs of the first are enough to know.
    cold = (_costs(_mapping(rule.get("action")).get("storageClass")) for rule in added)
    if costs := next(filter(None, cold), ""):
        then.append(costs)
    yield BucketEffect(
        kind="lifecycle-changed",
        does=does,
        then=": ".join(then),
        until=until,
        grade=None if worse else Grade.WARNING,
        of_all=not all(map(_ends, worse)),
    )


def _milder(rule: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Tell whether a rule deletes the same objects as the one before, and later."""
    new, old = (dict(_mapping(body.get("condition"))) for body in (rule, before))
    later = (new.pop("age", None) or 0) > (old.pop("age", None) or 0)
    return rule.get("action") == before.get("action") and new == old and later


def _deletes(rule: Mapping[str, Any]) -> bool:
    return bool(_mapping(rule.get("action")).get("type") == "Delete")


def _rule(body: Mapping[str, Any]) -> str:
    """Return a rule's effect: deletes `claims/` after 30 days"""
    action = _mapping(body.get("action"))
    does, to = str(action.get("type")), ""
    if _deletes(body):
        does = "deletes"
    elif does == "SetStorageClass":
        does, to = "moves", f" to {said(action.get('storageClass'))}"
    return f"{does} {_what(body)}{to} {_when(body)}".rstrip()


def _ends(body: Mapping[str, Any]) -> list[str]:
    """Return beginnings and ends of names; none for every object."""
    condition = _mapping(body.get("condition"))
    return [*condition.get("matchesPrefixes", ()), *(f"…{suffix}" for suffix in condition.get("matchesSuffixes", ()))]


def _what(body: Mapping[str, Any]) -> str:
    """Return the objects that a rule is for."""
    return join(f"`{name}`" for name in _ends(body)) or "every object"


def _when(body: Mapping[str, Any]) -> str:
    """Return the time from which a rule acts on an object. Conditions without words of their own stand in brackets."""
    condition = dict(_mapping(body.get("condition")))
    words = []
    for key in ("matchesPrefixes", "matchesSuffixes"):
        condition.pop(key, None)
    if (age := condition.pop("age", None)) is not None:
        words.append(f"after {counted(age, 'day')}" if age else "at once")
    if (newer := condition.pop("numNewerVersions", None)) is not None:
        words.append(f"with {counted(newer, 'newer version')}")
    if (days := condition.pop("daysSinceNoncurrentTime", None)) and condition.pop("withState", None):
        words.append(f"{counted(days, 'day')} after it was written over")
    rest = [f"{key} {said(value)}" for key, value in condition.items() if value not in (None, "", 0, False, [], "ANY")]
    if rest:
        words.append(f"({', '.join(rest)})")
    return " ".join(words)


def _retention(before: Any, after: Any) -> Iterator[BucketEffect]:
    old, new = (_seconds(policy, "retentionPeriod") or 0 for policy in (before, after))
    if _mapping(after).get("isLocked") and not _mapping(before).get("isLocked"):
        then = "nobody can delete one sooner, nor stop paying for it"
        yield BucketEffect(_RETENTION, f"keeps each object for {span(new)}, for good", then)
    elif new > old:
        then = "jobs that write a file twice fail"
        yield BucketEffect(_RETENTION, f"lets nobody overwrite or delete an object for {span(new)}", then)
    elif new < old:
        does = f"lets objects be deleted {f'after {span(new)}' if new else 'at once'}"
        yield BucketEffect(_RETENTION, does, until=f"after {span(old)}")


def _soft_delete(before: Any, after: Any) -> Iterator[BucketEffect]:
    kept_s = [_seconds(policy, "retentionDurationSeconds") for policy in (before, after)]
    # By default, the cloud keeps deleted objects for a week.
    old, new = (7 * _DAY if seconds is None else seconds for seconds in kept_s)
    if new > old:
        does = f"keeps deleted objects for {span(new)}, paid as before"
        yield BucketEffect(_RETENTION, does, until=f"for {span(old)}", grade=Grade.NOTE)
    elif 0 < new < old:
        yield BucketEffect(_RETENTION, f"keeps deleted objects for {span(new)} alone", until=f"for {span(old)}")
    elif new < old:
        yield BucketEffect(_RETENTION, f"keeps nothing that is deleted, which could be brought back for {span(old)}")


def _encryption(before: Any, after: Any) -> Iterator[BucketEffect]:
    old, new = (_mapping(encryption).get("defaultKmsKeyName") for encryption in (before, after))
    if new and old != new:
        key = last_part(str(new))
        then = "nobody looked whether Cloud Storage may use it, else writes fail"
        yield BucketEffect(_CHANGED, f"encrypts new objects with key `{key}`", then)
    elif old and not new:
        key = last_part(str(old))
        yield BucketEffect(_CHANGED, f"encrypts new objects with Google's key, no longer with yours (`{key}`)")


def _storage_class(before: Any, after: Any) -> Iterator[BucketEffect]:
    if (before or _USUAL) == (after or _USUAL):
        return
    colder = _COLD.get(str(after), 0) > _COLD.get(str(before), 0)
    does, until = f"stores new objects as {said(after or _USUAL)}", f"as {said(before or _USUAL)}"
    yield BucketEffect(_CHANGED, does, _costs(after), until, Grade.WARNING if colder else Grade.NOTE)


def _costs(storage_class: Any) -> str:
    days = _COLD.get(str(storage_class))
    return f"each read costs extra, and {days} days are paid at least" if days else ""


def _policy(before: Any, after: Any) -> Iterator[BucketEffect]:
    if before == "PREVENT" or after == "PREVENT":
        return  # `fates.unguarded` reports it.
    does = "stays in the cloud" if after == "ABANDON" else "is deleted"
    yield _changed(f"{does} when it leaves the stack")


def _switch(on: BucketEffect | None, off: BucketEffect) -> Rule:
    """Return the rule for a switch; a None side is reported elsewhere."""

    def rule(before: Any, after: Any) -> Iterator[BucketEffect]:
        if _on(before) != _on(after) and (effect := on if _on(after) else off):
            yield effect

    return rule


def _changed(does: str, then: str = "", grade: Grade | None = Grade.NOTE) -> BucketEffect:
    return BucketEffect(_CHANGED, does, then, grade=grade)


def _on(value: Any) -> bool:
    if isinstance(value, Mapping) and {"enabled", "mode"} & value.keys():
        return value.get("enabled") is True or value.get("mode") == "Enabled"
    return value == _ENFORCED if isinstance(value, str) else bool(value)


def _plain(does: str, until: str = "", then: str = "", grade: Grade = Grade.NOTE) -> Rule:
    """Return the rule for a value, which fills its place in `does`, and the value before it in `until`."""
    return lambda before, after: iter(
        [BucketEffect(_CHANGED, does.format(said(after)), then, until.format(said(before)), grade)]
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _seconds(value: Any, key: str) -> float | None:
    """Return seconds; None for an unset or unknown value."""
    try:
        return float(_mapping(value)[key])
    except (KeyError, TypeError, ValueError):
        return None


FIELDS: Mapping[str, Rule] = {
    "lifecycleRules": _lifecycle,
    "retentionPolicy": _retention,
    "softDeletePolicy": _soft_delete,
    "versioning": _switch(
        BucketEffect(
            _VERSIONS, "keeps and bills earlier versions of what jobs overwrite or delete", grade=Grade.WARNING
        ),
        BucketEffect(_VERSIONS, "keeps no earlier versions of what is overwritten or deleted"),
    ),
    "publicAccessPrevention": _switch(
        _changed("can't be opened to the public any more"),
        BucketEffect(
            "public-prevention-off", "may be opened to the public", "one wrong grant shows it to the internet"
        ),
    ),
    "uniformBucketLevelAccess": _switch(
        _changed("shuts out whoever may read single objects alone", "their own lists count no more", None),
        _changed("lets single objects be opened to anybody, past who may read the bucket", grade=Grade.BLOCKING),
    ),
    "encryption": _encryption,
}
"""The fields that keep or open a bucket's objects: doctor compares them even where the program leaves them to the
cloud."""
RULES: Mapping[str, Rule] = {
    **FIELDS,
    "autoclass": _switch(
        _changed("moves objects that nobody reads to cheaper classes by itself, for a fee"),
        _changed("moves objects to cheaper classes by itself no more"),
    ),
    "cors": _plain("lets pages of other sites read it, as its list of them says"),
    "customPlacementConfig": _plain("lies in other regions", grade=Grade.WARNING),
    "defaultEventBasedHold": _switch(
        _changed(
            "lets nobody overwrite or delete a new object until its hold is released",
            "jobs that do fail",
            Grade.BLOCKING,
        ),
        _changed("puts no hold on new objects, which may be deleted at once", grade=Grade.BLOCKING),
    ),
    "deletionPolicy": _policy,
    "enableObjectRetention": _switch(
        _changed("lets single objects be kept from deletion"), _changed("keeps none from deletion")
    ),
    # `fates.unguarded` reports the other direction.
    "forceDestroy": _switch(None, _changed("can't be deleted any more while anything is in it")),
    "hierarchicalNamespace": _plain("has folders of another kind", grade=Grade.WARNING),
    "ipFilter": _switch(
        _changed("answers listed addresses alone", "jobs and people elsewhere are refused", Grade.BLOCKING),
        _changed("answers requests from any address", grade=Grade.BLOCKING),
    ),
    "labels": _plain("has other labels, which bills and searches go by"),
    "location": _plain("lies in {}", "in {}", "jobs elsewhere read more slowly, and pay for it", Grade.BLOCKING),
    "logging": _switch(
        _changed("has its reads logged in another bucket"), _changed("has no log of who reads it", grade=Grade.WARNING)
    ),
    "name": _plain("is called {}", "{}", grade=Grade.BLOCKING),
    "project": _plain("belongs to project {}", "{}", "that one pays", Grade.BLOCKING),
    "requesterPays": _switch(
        _changed("bills whoever reads it", "jobs and people that name no project are refused", Grade.BLOCKING),
        _changed("bills its owner for reads"),
    ),
    "rpo": _plain("copies objects to its second region by {}", "{}"),
    "storageClass": _storage_class,
    "website": _plain("answers as another website"),
}
"""The rules by a bucket's input, in the provider's spelling."""
