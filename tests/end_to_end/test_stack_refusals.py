"""A bad stack: `slipway check` and the engine say all that is wrong, and nothing is made. (D2, P2, P3)"""

import pytest

from slipway.reviewing.preview_text import UNTOUCHED
from slipway.reviewing.render.rows import ON_MAIN
from tests.checkouts.checkout import MACHINE, Checkout
from tests.checkouts.saved_stack import SavedStack
from tests.checkouts.shell import Done

pytestmark = pytest.mark.journey

DISK = {"type": "pd-ssd", "sizeGb": 100}
EVERYTHING_WRONG = {
    "Bad_Name": {"pools": {"workers": {**MACHINE, "replicas": 1}}},
    "cpu": {
        "pols": {},
        "pools": {
            "unknown-machine": {"machine": "n1-standrad-4", "disk": DISK, "replicas": 1},
            "from-zero": {**MACHINE, "replicas": {"min": 0, "max": 2}},
            "nowhere": {"machine": "a3-highgpu-8g", "disk": DISK, "replicas": 1},
        },
    },
}
POOL = "slipway:persistentResources.cpu.pools"
FINDINGS = (
    ("slipway:persistentResources.Bad_Name", "lowercase"),
    ("slipway:persistentResources.cpu.pols", "did you mean `pools`?"),
    (f"{POOL}.unknown-machine.machine", "n1-standard-4"),
    (f"{POOL}.from-zero.replicas.min", "at least one"),
    (f"{POOL}.nowhere.machine", "us-central1"),
)


def refused(checkout: Checkout, done: Done, code: int, *words: str) -> None:
    """It ended with `code` and said `words`; nothing was made."""
    assert done.code == code, done.said
    for word in words:
        assert word in done.said, f"{word!r} is not in:\n{done.said}"
    assert "Traceback" not in done.said
    assert checkout.nothing_made()


def test_a_stack_that_cannot_be_is_refused_by_check_preview_and_up_and_nothing_is_made(checkout: Checkout) -> None:
    """One checkout, mistaken in one way after the other.

    Each mistake meets `preview` or `up`, not both: the configuration and the templates are judged before the program
    knows which of them it is, and short quota is refused in both by tests/slipway/google/quota/test_verdict.py.
    """
    everything_wrong_in_a_stack_file_is_said_at_once(checkout)
    a_template_that_fits_no_pool_is_shown_beside_the_nearest(checkout)
    quota_short_for_what_is_drawn_now_fails_before_anything_is_made(checkout)


def everything_wrong_in_a_stack_file_is_said_at_once(checkout: Checkout) -> None:
    checkout.write(persistentResources=EVERYTHING_WRONG, region="europe-west6")
    check = checkout.slipway("check")
    refused(checkout, check, 2, f"{len(FINDINGS)} errors in 1 of 1 stack files")
    done = checkout.pulumi("up")
    refused(checkout, done, 1, f"{len(FINDINGS)} errors in the stack configuration")
    for key, fix in FINDINGS:
        for said in (check.said, done.said):
            found = [part for part in said.split(f"stacks/{checkout.file.name}:") if f"  {key}: " in part]
            assert found, f"{key} is not in:\n{said}"
            assert fix in found[0]
            assert "fix: " in found[0]


def a_template_that_fits_no_pool_is_shown_beside_the_nearest(checkout: Checkout) -> None:
    larger = {**MACHINE, "disk": {"type": "pd-ssd", "sizeGb": 200}, "replicas": 1}
    other = {"machine": "n1-highmem-16", "disk": {"type": "pd-standard", "sizeGb": 500}, "replicas": 1}
    checkout.write(persistentResources={"cpu": {"pools": {"larger": larger, "other": other}}})
    words = (
        "template nap fits no pool",
        "disk pd-ssd 100 GB, nearest pool cpu/larger has pd-ssd 200 GB",
        "fix: let templates/nap.py ask for what a pool has, or declare a pool that has all it asks for",
    )
    refused(checkout, checkout.slipway("check"), 2, *words)
    # A preview refuses at its end: a review tells all else that comes with it. `up` refuses before it asks the cloud.
    refused(checkout, checkout.pulumi("preview"), 1, "slipway:index:Generation cpu-", *words)
    done = checkout.pulumi("up")
    refused(checkout, done, 1, *words)
    assert "PersistentResource" not in done.said


def quota_short_for_what_is_drawn_now_fails_before_anything_is_made(checkout: Checkout) -> None:  # D2 N3
    pool = {**MACHINE, "replicas": {"min": 600, "max": 601}}
    template = checkout.folder / "templates" / "nap.py"
    template.write_text(template.read_text().replace('capacity_types=("pool", "spot")', 'capacity_types=("spot",)'))
    checkout.write(persistentResources={"cpu": {"pools": {"all": pool}}})
    words = (
        "quota does not suffice in us-central1",
        "quota custom_model_training_cpus in us-central1 is short by ",
        "creating cpu needs 2,400, limit 2,200, used ",
        "fix: lower `replicas`, or ask for a limit of ",
    )
    cannot_run = (
        "template nap can't run by any of its capacity types: spot: quota: custom_model_training_preemptible_cpus",
        "short by 3",
    )
    refused(checkout, checkout.pulumi("up"), 1, *words, *cannot_run)
    # Where the stack only warns, preview and `up` go on: test_creating.


def test_quota_short_for_an_offer_makes_that_offer_unavailable_and_the_deployment_goes_on(
    deployed: Checkout, saved_stack: SavedStack
) -> None:  # N3
    short = "quota: custom_model_training_preemptible_cpus us-central1: needs 4, limit 1, short by 3"
    preview = deployed.pulumi("preview")
    assert preview.code == 0, preview.said
    for told in (saved_stack.told, preview.said):
        assert "unavailable: spot of nap (quota: custom_model_training_preemptible_cpus" in told
    assert "⚠ quota preemptible_cpus: single run: a run of nap spot needs 4: limit 1" in saved_stack.told
    assert f"✓ {UNTOUCHED}" in preview.said
    refusal = deployed.slipway("submit", "nap", "-p", "say=hello", "--capacity", "spot")
    assert refusal.code == 5, refusal.said
    assert "nap can never run" in refusal.err
    assert "preemptible_cpus" in refusal.err and "needs 4, limit 1" in refusal.err
    assert "fix: " in refusal.err
    assert short in deployed.slipway("templates", "show", "nap").said


def test_a_preview_compares_rules_with_those_of_the_last_deployment(deployed: Checkout) -> None:  # N5
    deployed.write(policy={"mandatory": {"mostCost": 0.01}})
    preview = deployed.pulumi("preview")
    assert preview.code == 1, preview.said
    assert "Slipway plan for trial: ⛔ rejected" in preview.said
    (row,) = (line.strip() for line in preview.said.splitlines() if "⛔ policy mostCost: " in line)
    assert "up to $0.49/h, at most $0.01/h is allowed" in row
    assert "slipway:policy.mandatory: – → {mostCost: 0.01}" in preview.said
    assert "existing problems" not in preview.said and ON_MAIN not in preview.said
