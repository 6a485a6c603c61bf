"""Who may submit is named as IAM names it, and a slip is told with its line."""  # P5

import re

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.stack.members import PATTERN, invalid_member, open_to

from .files import HEAD, only, read, with_config, wrong

POOL = "iam.googleapis.com/projects/100000000001/locations/global/workloadIdentityPools/github"
WORKFORCE = "iam.googleapis.com/locations/global/workforcePools/acme"
GOOD = (
    "user:ada@acme.example",
    "user:ada.o'neil+ml@mail.acme.example",
    "group:ml-engineers@acme.example",
    "group:all_users@acme.co",
    "domain:acme.example",
    "domain:ml.acme.co.uk",
    "serviceAccount:sweeps@acme-ml-prod.iam.gserviceaccount.com",
    "serviceAccount:sweeps@acme-ml.acme.example.iam.gserviceaccount.com",
    "serviceAccount:100000000001-compute@developer.gserviceaccount.com",
    "serviceAccount:acme-ml@appspot.gserviceaccount.com",
    "serviceAccount:service-1000@gcp-sa-aiplatform.iam.gserviceaccount.com",
    "serviceAccount:acme-ml.svc.id.goog[sweeps/runner]",
    f"principal://{POOL}/subject/repo:acme/ml:ref:refs/heads/main",
    f"principal://{WORKFORCE}/subject/ada@acme.example",
    f"principalSet://{POOL}/attribute.repository/acme/ml",
    f"principalSet://{POOL}/group/ml",
    f"principalSet://{POOL}/*",
    f"principalSet://{WORKFORCE}/attribute.department/ml",
    "principalSet://iam.googleapis.com/projects/1000/locations/global/workloadIdentityPools/acme-ml.svc.id.goog/namespace/ml",
)
BAD = (
    # member, what is said, what would be right
    ("bob", "is not an IAM member", "for example group:"),
    ("bob@acme.example", "is not an IAM member", "did you mean `user:bob@acme.example`, or group:?"),
    ("user:bob", "is not an IAM member", "a whole address: user:ada@acme.example"),
    ("user:", "is not an IAM member", "a whole address"),
    ("user:bob@acme", "is not an IAM member", "a whole address"),
    ("user:bob@@acme.example", "is not an IAM member", "a whole address"),
    ("user:bob @acme.example", "is not an IAM member", "a whole address"),
    ("user:.bob@acme.example", "is not an IAM member", "a whole address"),
    ("user:bob@acme..example", "is not an IAM member", "a whole address"),
    ("user:bob@-acme.example", "is not an IAM member", "a whole address"),
    ("user:bob@10.0.0.1", "is not an IAM member", "a whole address"),
    ("group:x@y", "is not an IAM member", "a whole address: group:"),
    ("group:ml@acme.example\n", "is not an IAM member", "a whole address"),
    ("serviceAccount:foo", "is not an IAM member", "its address: serviceAccount:sweeps@"),
    ("serviceAccount:foo@acme.example", "is not an IAM member", "its address"),
    ("serviceAccount:foo@gserviceaccount.com", "is not an IAM member", "its address"),
    ("serviceAccount:foo@evil-gserviceaccount.com", "is not an IAM member", "its address"),
    ("user:sweeps@acme.iam.gserviceaccount.com", "is a service account, not a user", "serviceAccount:sweeps@acme.iam"),
    ("group:sweeps@acme.iam.gserviceaccount.com", "is a service account, not a group", "serviceAccount:sweeps@"),
    ("domain:acme", "is not an IAM member", "domain:acme.example"),
    ("domain:@acme.example", "is not an IAM member", "domain:acme.example"),
    ("User:bob@acme.example", "IAM is case-sensitive, and this begins with 'User:'", "user:bob@acme.example"),
    ("serviceaccount:s@acme.iam.gserviceaccount.com", "IAM is case-sensitive", "serviceAccount:s@acme."),
    ("user:Bob@Acme.example", "keeps addresses in lower case", "user:bob@acme.example"),
    ("domain:Acme.example", "keeps addresses in lower case", "domain:acme.example"),
    ("allUsers", "would let strangers run jobs", "a group"),
    ("allusers", "would let strangers run jobs", "a group"),
    ("allAuthenticatedUsers", "would let strangers run jobs", "a group"),
    ("deleted:user:bob@acme.example?uid=1234", "was deleted", "leave it out"),
    ("projectOwner:acme-ml", "is not an IAM member", "for example group:"),
    ("principal://goog/subject/bob@acme.example", "is not an IAM member", "principal://iam.googleapis.com/"),
    (f"principal://{POOL}", "is not an IAM member", "/subject/ID"),
    (f"principal://{POOL}/subject/", "is not an IAM member", "/subject/ID"),
    (f"principal://{POOL.replace('100000000001', 'acme-ml')}/subject/x", "is not an IAM member", "projects/NUMBER/"),
    (f"principalSet://{POOL}/subject/x", "is not an IAM member", "attribute.NAME/VALUE"),
    (f"principal:{POOL}/subject/x", "is not an IAM member", "principal://"),
)


@pytest.mark.parametrize("member", GOOD)
def test_members_of_iam_may_stand_there(member: str) -> None:
    assert invalid_member(member) is None
    assert read(with_config(f'slipway:workspace: {{submitters: ["{member}"]}}')).workspace.submitters == (member,)


@pytest.mark.parametrize(("member", "what", "fix"), BAD)
def test_what_is_none_is_refused_with_what_would_be_right(member: str, what: str, fix: str) -> None:
    found = invalid_member(member)
    assert found is not None and what in found[0] and fix in found[1]


@pytest.mark.parametrize(("member", "what"), [(member, what) for member, what, _ in BAD])
def test_what_it_advises_is_a_member(member: str, what: str) -> None:
    _, fix = invalid_member(member) or ("", "")
    if "case" in what or "is a service account" in what:
        assert invalid_member(fix) is None


def test_the_line_is_told() -> None:
    text = HEAD + "  slipway:workspace:\n    submitters:\n      - group:ml@acme.example\n      - user:bob\n"
    found = only(text)
    assert (found.line, found.key) == (8, "slipway:workspace.submitters[1]")


def test_the_same_member_twice_is_refused() -> None:
    found = only(with_config("slipway:workspace: {submitters: [group:a@acme.example, group:a@acme.example]}"))
    assert found.key == "slipway:workspace.submitters[1]" and "listed twice" in found.what


def test_editors_know_members_as_the_check_does() -> None:
    pattern = re.compile(PATTERN)
    assert all(pattern.fullmatch(member) for member in GOOD)
    told_by_words_alone = ("user:sweeps@", "group:sweeps@")  # A service account's address is an address as well.
    assert not [one for one, *_ in BAD if pattern.fullmatch(one) and not one.startswith(told_by_words_alone)]


def test_crowds_are_told_by_who_they_are(snapshot: SnapshotAssertion) -> None:
    assert open_to(("group:ml@acme.example", "domain:acme.example", f"principalSet://{POOL}/*")) == snapshot


@pytest.mark.parametrize(
    ("email", "right"),
    [("ml@acme.example", True), ("ML.Platform@Acme.example", True), ("ml@acme", False), ("a@b.c", False)],
)
def test_the_contact_is_an_address_that_mail_reaches(email: str, right: bool) -> None:
    assert bool(wrong(with_config(f"slipway:quota: {{contactEmail: {email}}}"))) is not right


def test_a_trainer_is_an_id_and_its_address_is_told_apart() -> None:
    found = only(with_config("slipway:workspace: {trainer: trainer@acme-ml.iam.gserviceaccount.com}"))
    assert "`trainer: trainer`" in found.fix
