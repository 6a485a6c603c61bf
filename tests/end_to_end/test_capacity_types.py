"""Kinds, offers and cases with the real engine: preview proves each, `up` publishes them. # N3 W4 W5 Z1 Z6"""

import pytest

from tests.checkouts.checkout import Checkout

pytestmark = pytest.mark.journey

MANY = """
    kinds=("custom-job", "training-pipeline"),
    capacity_types=("pool", "on-demand"),
    variants=(
        Variant(
            {"end": "badly"},
            (
                WorkerPool(
                    role="sleeper",
                    machine="a3-highgpu-8g",
                    args=("--seconds=${seconds}", "--say=${say}", "--end=${end}", "--output=${slipway.output}"),
                    reservation="h100",
                ),
            ),
            ("flex-start", "reservation"),
        ),
    ),
"""
RESERVED = {
    "h100": {"path": "projects/local-project/zones/us-central1-a/reservations/h100", "machine": "a3-highgpu-8g"}
}


def rewrite(checkout: Checkout, old: str, new: str) -> None:
    template = checkout.folder / "templates" / "nap.py"
    text = template.read_text()
    assert old in text
    template.write_text(text.replace(old, new).replace("Parameter, WorkerPool", "Parameter, Variant, WorkerPool"))


def test_a_template_that_breaks_a_rule_is_stopped_and_every_kind_and_case_is_proven_published_and_shown(
    checkout: Checkout,
) -> None:
    template = checkout.folder / "templates" / "nap.py"
    two_types = template.read_text()
    a_rule_that_a_template_breaks_stops_it_with_the_rule(checkout)
    template.write_text(two_types)
    every_kind_and_case_is_proven_published_and_shown(checkout)


def a_rule_that_a_template_breaks_stops_it_with_the_rule(checkout: Checkout) -> None:  # W4
    rewrite(checkout, 'capacity_types=("pool", "spot"),', 'capacity_types=("pool", "flex-start"),')
    done = checkout.pulumi("up")
    assert done.code != 0
    assert "template nap: capacity type flex-start" in done.said
    assert "L4, A100, H100, H200" in done.said
    assert "capacity_types" in done.said
    assert checkout.nothing_made()


def every_kind_and_case_is_proven_published_and_shown(checkout: Checkout) -> None:  # Z1
    rewrite(checkout, 'capacity_types=("pool", "spot"),', MANY)
    preview = checkout.pulumi("preview")
    assert preview.code == 0, preview.said
    cases = "nap flex-start (end=badly) and nap flex-start (end=badly) as training-pipeline"
    assert f"A single run by {cases} can't start" in " ".join(preview.said.split())
    assert "slipway:reservations" in preview.said
    lacking = (
        "quota custom_model_training_preemptible_nvidia_h100_gpus in us-central1, limit 0, makes offers unavailable: "
    )
    assert f"{lacking}nap needs 8 with flex-start" in " ".join(preview.said.split())  # W6
    checkout.write(reservations=RESERVED)
    checkout.up()
    shown = checkout.slipway("templates", "show", "nap")
    assert "training-pipeline   (--as training-pipeline)" in shown.out
    assert "end=badly" in shown.out
    offers = checkout.slipway("templates", "show", "nap", "--output", "json").json["template"]["offers"]
    reserved = next(offer for offer in offers if offer["capacityType"] == "reservation")
    assert reserved["available"]
    assert "whether it draws quota" in (reserved["why"] or "")
