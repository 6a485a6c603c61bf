"""Names in a stack file: members, trainers and reservations."""

import re

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.authoring.stack.members import PATTERN, check_warnings, invalid_member, open_to
from slipway.authoring.stack.stack import TrainerSettings
from slipway.authoring.stack.yaml_file import from_text
from slipway.model.cluster import Reservation

from .files import FILE, HEAD, only, read, with_config, with_pool, wrong

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
    if "case" in what or "is a service account" in what:
        assert invalid_member(found[1]) is None, "what it advises is a member"


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


TEAM, EVA = "group:ml@acme.example", "user:eva@acme.example"


def test_each_has_an_account_and_submitters_of_its_own() -> None:
    stack = read(
        with_config(
            f"""
            slipway:workspace: {{submitters: ["{TEAM}"]}}
            slipway:trainers:
              evals: {{submitters: ["{EVA}", "{TEAM}"]}}
              tuning: {{account: tuning-of-research}}
            """
        )
    )
    assert stack.trainers == {
        "evals": TrainerSettings("slipway-prod-evals", (EVA, TEAM)),
        "tuning": TrainerSettings("tuning-of-research"),
    }
    assert stack.workspace.submitters == (TEAM,), "nobody gets more than they are given"
    assert stack.submitters == (TEAM, EVA)


def test_a_stack_without_any_has_the_workspaces_alone() -> None:
    assert read(with_config("gcp:disableRequestReason: true")).trainers == {}


@pytest.mark.parametrize(
    ("text", "line", "key", "what", "fix"),
    [
        ("  evals: {acount: evals-1}", 6, "acount", "unknown key", "did you mean `account`?"),
        (
            "  evals: {account: Evals}",
            6,
            "account",
            "'Evals' can't be a service account's id",
            "6–30 lowercase letters",
        ),
        ("  Evals: {}", 6, "Evals", "'Evals' can't be a trainer's name", "1–30 lowercase letters"),
        ("  evals: {submitters: [bob]}", 6, "submitters[0]", "is not an IAM member", "for example group:"),
        (f"  evals: {{submitters: [{EVA}, {EVA}]}}", 6, "submitters[1]", "is listed twice", "keep one"),
        ("  fine-tuning-of-all-models: {}", 6, "account", "can't be a service account's id", "set `account`"),
        ("  trainer: {}", 6, "account", "is the account of slipway:workspace as well", "an account of its own"),
        (
            "  a: {account: evals-1}\n  b: {account: evals-1}",
            7,
            "account",
            "is the account of trainer a as well",
            "own",
        ),
    ],
)
def test_a_slip_is_told_with_its_line_and_key(text: str, line: int, key: str, what: str, fix: str) -> None:
    found = only(with_config(f"slipway:trainers:\n{text}"))
    assert (found.line, found.key.rpartition(".")[2]) == (line, key)
    assert what in found.what and fix in found.fix


def test_the_key_itself_may_be_misspelt() -> None:
    assert only(with_config("slipway:trainer: {evals: {}}")).fix == "did you mean `slipway:trainers`?"


def test_a_whole_domain_that_may_act_as_one_is_warned_of() -> None:
    text = with_config('slipway:trainers: {evals: {submitters: ["domain:acme.example"]}}')
    assert wrong(text) == ()
    (warning,) = check_warnings(from_text(text, FILE))
    assert "account in acme.example may submit" in warning.what
    assert warning.key.endswith("slipway:trainers.evals.submitters[0]")


PATH = "projects/acme-ml-prod/zones/us-central1-a/reservations/h100"


def reservation(text: str) -> str:
    return with_config(f"slipway:reservations:\n  h100: {{{text}}}")


def test_a_reservation_is_declared_by_name() -> None:
    stack = read(reservation(f"path: {PATH}, machine: a3-highgpu-8g, machines: 2"))
    assert stack.reservations == {"h100": Reservation(PATH, "a3-highgpu-8g", machines=2)}
    attached = read(
        reservation(f"path: {PATH}, machine: n1-standard-8, accelerator: {{type: NVIDIA_TESLA_T4, count: 2}}")
    )
    assert attached.reservations["h100"] == Reservation(PATH, "n1-standard-8", "NVIDIA_TESLA_T4", 2)
    assert read(reservation(f"path: {PATH}")).reservations["h100"] == Reservation(PATH)
    assert read(with_config("slipway:templates: []")).reservations == {}


@pytest.mark.parametrize(
    ("text", "key", "what", "fix"),
    [
        ("path: h100", "h100.path", "is not a reservation's full path: the text 'h100'", "ALLOW_ALL"),
        (
            f"path: {PATH.replace('central1', 'east4')}",
            "h100.path",
            "us-east4-a is not in the stack's region",
            "us-central1",
        ),
        (f"path: {PATH}, machine: a3-highgpu-9g", "h100.machine", "unknown machine type", "a3-highgpu"),
        (f"path: {PATH}, machines: 0", "h100.machines", "can't hold 0 machines", "1 or more"),
        (
            f"path: {PATH}, machine: n1-standard-8, accelerator: {{type: NVIDIA_L4, count: 1}}",
            "type",
            "can't have",
            "g2-",
        ),
        ("machine: a3-highgpu-8g", "h100.path", "is missing", "add `path: projects/"),
        (f"path: {PATH}, zone: a", "h100.zone", "unknown key", "one of path"),
    ],
)
def test_a_wrong_one_is_told_with_its_line(text: str, key: str, what: str, fix: str) -> None:
    finding = only(reservation(text))
    assert finding.line == 6
    assert finding.key.endswith(key)
    assert what in finding.what
    assert fix in finding.fix


def test_gb200_machines_can_be_reserved_and_not_be_held_by_a_pool() -> None:
    assert read(reservation(f"path: {PATH}, machine: a4x-highgpu-4g")).reservations["h100"].machine == "a4x-highgpu-4g"
    finding = only(with_pool("machine: a4x-highgpu-4g\nreplicas: 1"))
    assert "given to reservations only" in finding.what


@pytest.mark.parametrize("word", ["true", "false"])
def test_a_stack_says_whether_code_may_be_replaced(word: str) -> None:  # N11
    assert read(with_config(f"slipway:workspace: {{code: {word}}}")).workspace.code is (word == "true")
    assert read(with_config("slipway:templates: []")).workspace.code is False


def test_a_stack_says_what_a_submission_may_cost_unasked() -> None:  # W2
    assert read(with_config("slipway:workspace: {confirmAbove: 4}")).workspace.confirm_above == 4
    assert read(with_config("slipway:workspace: {confirmAbove: 0.5}")).workspace.confirm_above == 0.5
    assert read(with_config("slipway:templates: []")).workspace.confirm_above is None
    assert "0 or more" in only(with_config("slipway:workspace: {confirmAbove: -1}")).fix


@pytest.mark.parametrize("key", ["spot", "flexStart", "reservation"])
def test_a_pool_has_no_capacity_type_of_its_own(key: str) -> None:
    finding = only(with_pool(f"machine: n1-standard-8\nreplicas: 1\n{key}: true"))
    assert "capacity type of job templates" in finding.fix
