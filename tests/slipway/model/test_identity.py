"""Names and labels tell each deployment from every other one, however long its parts are."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from slipway.authoring.stack.bounds import ACCOUNT, BUCKET
from slipway.model.identity import Identity, bucket_in, identity_in, words_of

NAMES = some.text("abz09-_.A", min_size=1, max_size=80).filter(lambda name: name.strip("-_."))
WORKSPACES = some.just("") | NAMES
IDENTITIES = some.builds(Identity, NAMES, NAMES, WORKSPACES)
PLACES = ("acme", "acme-ml-production-4242-abcdef", "acme.example:ml")
LABEL = re.compile(r"[a-z0-9_-]{1,63}")


def names_of(identity: Identity, place: str = PLACES[0]) -> tuple[str, ...]:
    return (identity.label, *identity.buckets(place), identity.account("trainer"), identity.account("evals"))


def taken(identity: Identity, place: str = PLACES[0]) -> set[tuple[str, str]]:
    """Return the names, each with its kind: an account may have the name of a label."""
    label, catalog, work, *accounts = names_of(identity, place)
    return {("label", label), ("bucket", catalog), ("bucket", work), *(("account", id_) for id_ in accounts)}


@given(IDENTITIES, IDENTITIES, some.sampled_from(PLACES))
def test_two_deployments_never_share_a_name(one: Identity, another: Identity, place: str) -> None:
    if (one.project, one.stack, one.workspace) != (another.project, another.stack, another.workspace):
        same = "workspace" in (one.workspace, another.workspace) and "" in (one.workspace, another.workspace)
        assert same or not taken(one, place) & taken(another, place)


@given(IDENTITIES, some.sampled_from(PLACES))
def test_every_name_is_one_that_the_cloud_takes(identity: Identity, place: str) -> None:
    label, catalog, work, *accounts = names_of(identity, place)
    assert LABEL.fullmatch(label)
    assert all(re.fullmatch(BUCKET, name) for name in (catalog, work, bucket_in("northamerica-northeast1", work)))
    assert all(re.fullmatch(ACCOUNT, name) for name in accounts)


@pytest.mark.parametrize(
    ("one", "another"),
    [
        (("vision-infra", "dev"), ("speech-infra", "dev")),
        (("acme", "ml-dev"), ("acme-ml", "dev")),
        (("acme", "ml", "dev"), ("acme", "ml-dev")),
        (("acme", "ml--dev"), ("acme", "ml", "dev")),
        (("Acme", "dev"), ("acme", "dev")),
        (("acme", "dev", "trainer"), ("acme", "dev")),
        (("a" * 90, "dev"), ("a" * 91, "dev")),
    ],
)
def test_names_that_are_much_alike(one: tuple[str, ...], another: tuple[str, ...]) -> None:
    assert not taken(Identity(*one)) & taken(Identity(*another))


def test_names_of_buckets_in_other_regions_are_cut_too() -> None:
    long = "w" * 60
    assert bucket_in("us-east4", "acme-work") == "acme-work-us-east4"
    assert len(bucket_in("us-east4", long)) == 63 and bucket_in("us-east4", long).endswith("-us-east4")
    assert bucket_in("us-east4", long) != bucket_in("us-east4", f"{long}w")


def test_a_label_names_both_the_stack_and_the_project() -> None:
    vision = Identity("vision-infra", "dev", "ml")
    assert identity_in(vision.label) == vision
    assert words_of(vision.label) == vision.words == "stack dev of Pulumi project vision-infra, workspace ml"
    assert words_of("somebody-else") == "stack somebody-else"
    assert words_of(Identity("Vision", "dev").label).startswith("stack vision--dev---")
    assert vision.address == "vision-infra/dev"


@pytest.mark.parametrize("project", ["google-infra", "my-google", "g00gle", "Google"])
def test_no_bucket_has_a_name_with_google_in_it(project: str) -> None:
    buckets = Identity(project, "dev").buckets("acme")
    assert not [name for name in buckets if re.search("g[o0]{2}gle", name)]
    assert all(re.fullmatch(BUCKET, name) for name in buckets)
    assert not {*buckets} & {*Identity(project.replace("oogle", "").replace("00gle", ""), "dev").buckets("acme")}
