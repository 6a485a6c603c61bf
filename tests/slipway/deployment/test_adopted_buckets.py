"""What somebody else made keeps its settings; what the stack misses is told, with the command. # N13"""

from slipway.deployment.snapshot import lacks, made_by_us
from slipway.deployment.summary import kept_settings

GOOD = {"iamConfiguration": {"uniformBucketLevelAccess": {"enabled": True}, "publicAccessPrevention": "enforced"}}


def test_what_is_missing_is_told_with_the_command_that_sets_it() -> None:
    bad = {"retentionPolicy": {"retentionPeriod": "86400"}, "iamConfiguration": {"publicAccessPrevention": "inherited"}}
    every = lacks(bad, catalog=True)
    (said,) = kept_settings(["acme"], {"acme": every, "other": every})
    assert said.startswith("bucket gs://acme was there before")
    assert [word for word in said.split() if word.startswith("--")] == [
        "--uniform-bucket-level-access",
        "--public-access-prevention",
        "--versioning",
        "--clear-retention-period",
    ]


def test_versions_matter_to_a_catalog_alone_and_a_good_bucket_is_not_spoken_of() -> None:
    assert lacks(GOOD, catalog=False) == () and lacks(GOOD, catalog=True) == ("--versioning",)
    assert lacks({**GOOD, "versioning": {"enabled": True}}, catalog=True) == ()
    assert list(kept_settings(["acme"], {"acme": ()})) == []


def test_a_work_bucket_of_ours_is_no_catalog_of_ours_which_a_destruction_empties() -> None:
    for prefix, catalog in (("packages/", True), ("claims/", False)):
        bucket = {"lifecycle": {"rule": [{"condition": {"age": 1}}, {"condition": {"matchesPrefix": [prefix]}}]}}
        assert made_by_us(bucket, catalog=catalog) and not made_by_us(bucket, catalog=not catalog)
    assert not made_by_us({}, catalog=True)
