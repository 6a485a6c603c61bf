"""Secrets in plain text: what is hidden of what people may have written."""

import pytest

from slipway.authoring.stack.secrets import has_secret

RANDOM = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"


@pytest.mark.parametrize(
    "text",
    [
        "--token hunter2",
        "--api-key=hunter2 --x=1",
        f"bash -c wandb login {RANDOM} && judge",
        f"Authorization: Bearer {RANDOM}",
        '{"password": "hunter2"}',
        'subprocess.run(["x", "--password", "hunter2"])',
        f'os.environ.setdefault("WANDB_API_KEY", "{RANDOM}")',
        f'wandb.login(key="{RANDOM}")',
        'os.environ["DB_PASSWORD"] = "hunter2"',
    ],
)
def test_a_text_is_hidden_that_sets_a_secret_by_its_name(text: str) -> None:
    assert has_secret(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("--tokenizer=gemma --max-tokens 512", ""),
        ('parser.add_argument("--token-file", type=Path, help="the file of the token")', ""),
        ("Bearer ${TOKEN}", ""),
        ("sort --key size", ""),
        (f"us-docker.pkg.dev/acme/train@sha256:{RANDOM}", "image"),
        ("<pad>", "pad_token"),
        ("first", "sort_key"),
        ("projects/acme/secrets/hf-token/versions/1", "HF_TOKEN"),
    ],
)
def test_what_is_no_secret_is_shown(text: str, name: str) -> None:
    assert not has_secret(text, name)
