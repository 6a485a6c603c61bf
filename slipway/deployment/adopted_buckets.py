"""Buckets that somebody else made: how they are known, and what to say of settings that they keep. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from slipway.formatting import join

_MEANS: Mapping[str, str] = {
    "--uniform-bucket-level-access": "access lists of its objects say who may read them, beside the stack's grants",
    "--public-access-prevention": "it may be opened to the public",
    "--versioning": "no earlier catalog is kept when one is published",
    "--clear-retention-period": "nothing in it can be written anew before its retention is over, a catalog neither",
}


def made_by_us(bucket: Mapping[str, Any], *, catalog: bool) -> bool:
    """Each bucket that Slipway makes has a rule from its first moment on that lets old packages or claims age away.

    The work bucket of another stack, which may be gone, is somebody else's where a catalog is to be: a destruction
    empties a catalog's bucket, and that one has people's results.
    """
    prefix, rules = "packages/" if catalog else "claims/", bucket.get("lifecycle", {}).get("rule", [])
    return any(prefix in rule.get("condition", {}).get("matchesPrefix", []) for rule in rules)


def lacks(bucket: Mapping[str, Any], *, catalog: bool) -> tuple[str, ...]:
    """The settings of a bucket that Slipway would make otherwise and that matter to it, as the flags of gcloud that
    set them. Rules of its lifecycle are none: how long people keep what is theirs is theirs to say."""
    access = bucket.get("iamConfiguration", {})
    missing = {
        "--uniform-bucket-level-access": not access.get("uniformBucketLevelAccess", {}).get("enabled"),
        "--public-access-prevention": access.get("publicAccessPrevention") != "enforced",
        "--versioning": catalog and not bucket.get("versioning", {}).get("enabled"),
        "--clear-retention-period": bool(bucket.get("retentionPolicy")),
    }
    return tuple(flag for flag, is_missing in missing.items() if is_missing)


def kept_settings(names: Iterable[str], lacking: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """A warning for each of these buckets that lacks something, with the command for whoever owns it."""
    for name in sorted(names):
        if flags := lacking.get(name, ()):
            why = join(_MEANS[flag] for flag in flags)
            yield (
                f"bucket gs://{name} was there before the stack and keeps its settings: {why}\n"
                f"  fix: gcloud storage buckets update gs://{name} {' '.join(flags)}"
            )


def lost(buckets: Mapping[str, str]) -> Iterator[str]:
    """A warning for each that its owner has deleted, by its role: another one of the same name is nobody's but ours."""
    for role, name in sorted(buckets.items()):
        yield (
            f"bucket gs://{name}, which was there before the stack, is gone: a deployment makes an empty one of this "
            f"name, which is the stack's own\n  fix: name another one if that is not wanted "
            f"(slipway:workspace.{role}Bucket)"
        )
