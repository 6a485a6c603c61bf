"""Names in a stack file: members, trainers and reservations."""

import re

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.authoring.stack.config import TrainerEntry
from slipway.authoring.stack.members import PATTERN, check_warnings, invalid_member, open_to
from slipway.authoring.stack.yaml_file import from_text
from slipway.model.cluster import Reservation
from tests.slipway.authoring.mistakes import texts

from .files import FILE, read, with_config, wrong
from .test_mistakes import TABLE

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


@pytest.mark.parametrize("member", GOOD)
def test_members_of_iam_may_stand_there(member: str) -> None:
    assert invalid_member(member) is None
    assert read(with_config(f'slipway:workspace: {{submitters: ["{member}"]}}')).workspace.submitters == (member,)


def test_editors_know_members_as_the_check_does() -> None:
    pattern = re.compile(PATTERN)
    assert all(pattern.fullmatch(member) for member in GOOD)
    told_by_words_alone = "user:sweeps@"  # A service account's address is an address as well.
    bad = [text for heading, text, _ in texts(TABLE) if heading == "# A submitter"]
    assert bad and not [text for text in bad if pattern.fullmatch(text) and not text.startswith(told_by_words_alone)]


def test_crowds_are_told_by_who_they_are(snapshot: SnapshotAssertion) -> None:
    assert open_to(("group:ml@acme.example", "domain:acme.example", f"principalSet://{POOL}/*")) == snapshot


def test_more_submitters_than_a_projects_policy_takes_are_refused_and_a_group_is_one() -> None:
    """Google takes 1,500 principals in a policy, each as often as it has a role."""
    people = [f"user:ada{number}@acme.example" for number in range(376)]
    crowd, last = ", ".join(people[:-1]), people[-1]
    assert read(with_config(f"slipway:workspace: {{submitters: [{crowd}]}}"))
    for also in (f"trainers: {{evals: {{submitters: [{last}]}}}}", f"teams: {{evals: {{submitters: [{last}]}}}}"):
        (mistake,) = wrong(with_config(f"slipway:workspace: {{submitters: [{crowd}]}}\nslipway:{also}"))
        assert mistake.what == (
            "with this one, 376 submitters have 4 roles each: 1,504 principals in the project's policy, which takes "
            "1,500"
        )
        assert mistake.key.endswith("evals.submitters[0]") and mistake.fix.startswith("take a group: group:")


@pytest.mark.parametrize(("groups", "domains"), [(251, 0), (247, 1)])
def test_more_groups_and_domains_than_a_policy_takes_are_refused(groups: int, domains: int) -> None:
    """Google takes 250: a group counts once, a domain as often as it has a role."""
    members = [f"group:team{number}@acme.example" for number in range(groups)]
    members += [f"domain:d{number}.example" for number in range(domains)]
    listed = ", ".join(members[1:])
    assert read(with_config(f"slipway:workspace: {{submitters: [{listed}]}}"))
    (mistake,) = wrong(with_config(f"slipway:workspace: {{submitters: [{listed}, {members[0]}]}}"))
    assert "251 groups and domains" in mistake.what and mistake.what.endswith("and takes 250")
    assert mistake.fix.startswith("take one group that has the others")


def test_the_contact_is_an_address_in_letters_of_either_case() -> None:
    assert read(with_config("slipway:quota: {contactEmail: ML.Platform@Acme.example}")).quota.contact_email


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
        "evals": TrainerEntry(account="prod--evals", submitters=(EVA, TEAM)),
        "tuning": TrainerEntry(account="tuning-of-research"),
    }
    assert stack.workspace.submitters == (TEAM,), "nobody gets more than they are given"
    assert stack.submitters == (TEAM, EVA)


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
    only_held_so = read(reservation(f"path: {PATH}, machine: a4x-highgpu-4g"))
    assert only_held_so.reservations["h100"].machine == "a4x-highgpu-4g"
    assert read(reservation(f"path: {PATH}")).reservations["h100"] == Reservation(PATH)


def test_a_stack_says_whether_code_may_be_replaced_and_what_a_submission_may_cost_unasked() -> None:  # N11 W2
    workspace = read(with_config("slipway:workspace: {code: true, confirmAbove: 0.5}")).workspace
    assert workspace.code is True and workspace.confirm_above == 0.5
    usual = read(with_config("slipway:templates: []")).workspace
    assert usual.code is False and usual.confirm_above == 1
