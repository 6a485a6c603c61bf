"""A review repeats no secret, wherever the stack, a template or an error has it, and still has all names."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import pytest

from slipway.answers.masking import mask
from slipway.answers.settings import HIDDEN, settings
from slipway.deploying.engine.preview import Preview
from slipway.model.catalog.template import Parameter
from slipway.model.facts import Facts
from tests.slipway.reviewing.builders import change, cluster, facts, offer, request, step, template, worker_pool


@dataclass(frozen=True)
class Texts:
    """The texts of a review."""

    texts: tuple[str, ...]

    def rewritten(self, rewrite: Callable[[str], str]) -> Self:
        return type(self)(tuple(map(rewrite, self.texts)))


LONG = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"


def stack(*, env: dict[str, str] | None = None, args: tuple[str, ...] = (), **fields: object) -> Facts:
    work = worker_pool(env=env, args=args)
    return facts(cluster(), template("lora", offer(request=request(work)), **fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("declared", "canary"),
    [
        (stack(env={"WANDB_API_KEY": LONG}), LONG),
        (stack(env={"WANDB_API_KEY": "ab1"}), "ab1"),
        (stack(env={"DB_PASSWORD": "hunter"}), "hunter"),
        (stack(args=("--token", "x7y8z")), "x7y8z"),
        (stack(args=("--api-key=x7y8z",)), "x7y8z"),
        (stack(args=("bash", "-c", "wandb login " + LONG)), LONG),
        (stack(parameters=(Parameter("password", "str", "pass1"),)), "pass1"),
        (facts(cluster(labels={"api_token": "q1w2e"}), template()), "q1w2e"),
        (facts(cluster(display_name=f"hf_{LONG}"), template()), f"hf_{LONG}"),
    ],
)
def test_a_declared_secret_is_in_no_text_and_in_no_setting(declared: Facts, canary: str) -> None:
    comparison = change(facts(cluster(), template()), declared).comparison
    quoting = Texts((f"quota of {canary} is exceeded", f"policy: `{canary}`", f"https://acme.example/{canary}", canary))
    masked = mask(quoting, comparison)
    assert [text for text in masked.texts if canary in text] == []
    rows = mask(Texts(tuple(f"{row.before} → {row.after}" for row in settings(comparison))), comparison)
    assert [text for text in rows.texts if canary in text] == []


@pytest.mark.parametrize("text", [f"Bearer {LONG}", "--password hunter2", "API_KEY=hunter2", f"ya29.{LONG}"])
def test_an_error_is_masked_by_form_and_by_name(text: str) -> None:
    masked = mask(Texts((f"deployment is rejected: {text}",)), change(facts(), facts()).comparison)
    assert HIDDEN in masked.texts[0]
    assert text.split()[-1] not in masked.texts[0]


def test_an_input_of_the_preview_is_masked() -> None:
    inputs = {"environment": [{"name": "SMTP_PASSWORD", "value": "m4il"}]}
    preview = Preview((step("update", "gcp:cloudrun/service:Service", "chat", old={}, new=inputs),))
    comparison = change(facts(), facts(), preview=preview).comparison
    assert mask(Texts(("service chat: m4il is rejected",)), comparison).texts == (
        f"service chat: {HIDDEN} is rejected",
    )


@pytest.mark.parametrize(
    "text",
    [
        "template `lora`: parameter `max_tokens` 512 → 1024",
        "`group:ml@acme.example` can read secret `projects/acme/secrets/hf-token/versions/latest`",
        "token: expired",
        "slipway quota --request h100_gpus=48 --contact EMAIL",
        "cluster `cpu` is replaced: `encryption.kmsKey` none → `projects/p/locations/l/keyRings/r/cryptoKeys/k`",
        "password rotation of workspace `prod`",
        "`pad_token` pad → eos",
    ],
)
def test_names_and_plain_words_remain(text: str) -> None:
    declared = stack(env={"LOGIN_PASSWORD": "prod"}, parameters=(Parameter("pad_token", "str", "pad"),))
    assert mask(Texts((text,)), change(facts(), declared).comparison).texts == (text,)
