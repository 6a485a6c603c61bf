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
        "DB_PASS=hunter2 judge",
        "export TOKEN1=hunter2",
        "--auth=hunter2 --x=1",
        "--auth hunter2",
        "PGPASSWORD=hunter2",
        "DBPASS=hunter2",
        "GITHUB_PAT=abc123def456",
        "curl -sS -uada:hunter2 https://acme.example",
        "mysql -u root -phunter2 runs",
        f"git clone https://{RANDOM}@acme.example/x",
        "AWS_SECRET_ACCESS_KEY=hunter2",
        "--aws_secret_access_key hunter2",
        "AccountName=a;AccountKey=hunter2",
        "curl -sSu ada:hunter2 https://acme.example",
        "curl --user ada:hunter2 https://acme.example",
        "git clone https://ada:hunter2@acme.example/x",
        'headers = {"Authorization": "Bearer hunter2hunter2"}',
        "curl -H 'Authorization: Basic aHVudGVyMg=='",
        'api_key: str = "hunter2"',
        'parser.add_argument("--token", default="hunter2")',
        f"nvapi-{RANDOM}",
        f"gsk_{RANDOM}",
        f"r8_{RANDOM}",
        f"npm_{RANDOM}",
        f"dckr_pat_{RANDOM}",
        f"lsv2_pt_{RANDOM}",
        f"sk_live_{RANDOM}",
        f"dapi{RANDOM}",
        f"pypi-AgE{RANDOM}",
        f"xapp-1-{RANDOM}",
        f"SG.{RANDOM}.{RANDOM}",
        f"ASIA{RANDOM.upper()}",
        f"https://hooks.slack.com/services/T1/B1/{RANDOM}",
        f"https://discord.com/api/webhooks/1/{RANDOM}",
        f"https://a.blob.core.windows.net/c?sv=1&sig={RANDOM}%3D",
        f"https://storage.googleapis.com/b/o?X-Goog-Signature={RANDOM}",
        "redis://:hunter2@cache:6379/0",
    ],
)
def test_a_text_is_hidden_that_sets_a_secret_by_its_name(text: str) -> None:
    assert has_secret(text)


@pytest.mark.parametrize(
    "name",
    ["token", "TOKEN1", "HF_TOKEN_2", "DB_PASS", "db_pass", "auth", "PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "secretKey"],
)
def test_a_value_is_hidden_whose_name_is_a_secrets(name: str) -> None:
    assert has_secret("hunter2", name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("--tokenizer=gemma --max-tokens 5120 --tokens_per_batch=40960 --passes=3000", ""),
        ("--author=ada1 --authors ada1,bob2 --bypass=cache1 --token-type=word1", ""),
        ("password_file=/secrets/db1 --pass-rate=0.95 --pass=12345 --auth=oauth2 --auth oidc", ""),
        ("docker run --user 1000:1000 -u ada judge && python -u train.py", ""),
        ("python -m judge --user serviceAccount:judge@acme.iam.gserviceaccount.com", ""),
        ("token = tokenizer.pad_token", ""),
        ("BYPASS=cache/x1 FILE_PAT=shard-001-of-100 NPASS=3e4 tar -px1 -f a && docker run -u1000:1000 judge", ""),
        ("mysql -p$PASSWORD runs && curl -uada:$PASSWORD https://ada1@acme.example", ""),
        ('headers = {"Authorization": "Bearer " + read()}', ""),
        ("curl -u ada:$PASSWORD https://ada@acme.example", ""),
        ("40960", "max_tokens"),
        ("gemma-3b", "tokenizer"),
        ("ada1", "author"),
        ("3000x", "passes"),
        ("secrets1.txt", "password_file"),
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
