"""Secrets in plain text: what is hidden of what people may have written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.authoring.stack.secrets import has_secret, lines_have_secret, without_named, without_secrets

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
        'password = f"hunter2"',
        "password = rb'hunter2'",
        'password = """hunter2"""',
        'password: Optional[str] = "hunter2"',
        'if (password := "hunter2"):',
        'assert password == "hunter2"',
        'password: SecretStr = Field(default="hunter2")',
        'parser.add_argument("--api-key", type=str, default="hunter2")',
        'parser.add_argument("--api-key", default="hunter2", type=str)',
        'get(url, auth=("ada", "hunter2"))',
        'get(url, auth=HTTPBasicAuth("ada", "hunter2"))',
        'connect(os.getenv("DB_PASSWORD") or "hunter2")',
        'token = os.getenv("X") or "hunter2"',
        "sshpass -p hunter2 ssh acme",
        "machine acme login ada password hunter2",
        "  password hunter2",
        '{"name": "DB_PASSWORD", "value": "hunter2"}',
        '"X-Api-Key: hunter2"',
        "https://acme.example/x?token=hunter2",
        "db_password: hunter2!hunter2?",
        f"hvs.{RANDOM}",
        f"sk_test_{RANDOM}",
        f"whsec_{RANDOM}",
        f"dp.pt.{RANDOM}",
        f"dop_v1_{RANDOM}",
        f"ATATT3{RANDOM}",
        f"lin_api_{RANDOM}",
        f"figd_{RANDOM}",
        f"sbp_{RANDOM}",
        f"AGE-SECRET-KEY-1{RANDOM.upper()}",
        f"GOOG1E{RANDOM.upper()}",
        f"123456789:AA{RANDOM}",
        f"--index-url https://dl.cloudsmith.io/{RANDOM}/acme/python/simple/",
    ],
)
def test_a_text_is_hidden_that_sets_a_secret_by_its_name(text: str) -> None:
    assert has_secret(text)


@pytest.mark.parametrize(
    "name",
    [
        "token",
        "TOKEN1",
        "HF_TOKEN_2",
        "DB_PASS",
        "db_pass",
        "auth",
        "PGPASSWORD",
        "AWS_SECRET_ACCESS_KEY",
        "secretKey",
        "API_TOKEN_V2",
        "TOKENS",
        "DBPWD",
        "CREDS",
        "SECRET_VALUE",
        "PRIVATE_KEY_B64",
        "PASSWORD_PROD",
        "DJANGO_SECRET_KEY_FALLBACK",
        "encryptionsalt",
        "encryptedkey",
    ],
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
        ("10B", "TOKENS"),
        ("300M", "TRAIN_TOKENS"),
        ('f"https://acme.example/x?rewriteToken={quoted(token)}"', ""),
        ("12x", "token_count"),
        ("12x", "password_length"),
        ("hf-token1", "secret_name"),
        ("4096b", "key_size"),
        ('parser.add_argument("--token-type", type=str, default="word1")', ""),
        ('auth=("ada", read())', ""),
        ('password = os.getenv("X") or read()', ""),
        ("password: str | None = None", ""),
        ("https://acme.example/x?page_size=40&sort=name1", ""),
    ],
)
def test_what_is_no_secret_is_shown(text: str, name: str) -> None:
    assert not has_secret(text, name)


KEY_LINE = "MIIEowIBAAKCAQEAx1y2Zk9sQ3p0b2tlbg7JwqWmX4"


@pytest.mark.parametrize(
    ("above", "line"),
    [
        ("password = (", '    "hunter2"'),
        ('password = (\n    "hunter"', '    "hunter2"'),
        ('"password":  # of the database', '    "hunter2",'),
        ("db_password: >-", "  hunter2hunter2"),
        ("- name: DB_PASSWORD", "  value: hunter2"),
        ("-----BEGIN KEY-----", KEY_LINE),
        ('KEY = """', f'"{KEY_LINE}\\n"'),
    ],
)
def test_a_line_of_code_is_hidden_that_has_the_value_of_the_line_above(above: str, line: str) -> None:
    assert lines_have_secret([line], above.splitlines())
    assert lines_have_secret([*above.splitlines(), "", line])
    assert not lines_have_secret(['    "gemma-3b"', "steps: 40"], ["model = ("])
    assert not lines_have_secret(["steps: 40"], ['password = "hunter2"'])


@pytest.mark.parametrize(
    "unit", ["-eyJ", "?sig=", "&sig=a", "://a:", "a=", "a or ", "authorization: bearer ", "12345678:"]
)
def test_a_long_text_takes_no_long_time(unit: str) -> None:
    text = unit * (240_000 // len(unit))
    assert without_secrets(text) == text and not has_secret(text) and len(without_named(text)) == 4096


@pytest.mark.parametrize(
    "message",
    [
        "error: DB_PASSWORD={}",
        'error: {{"password": "{}"}}',
        "error: judge --password {} --x 1",
        "error: with token={}; tried twice",
        "why: mysql -p{} failed",
        "connecting with token: {}",
        "GET https://acme.example/x?page=2&api_key={} twice",
        "two lines\nDB_PASSWORD={}\nTOKEN={}",
    ],
)
def test_of_a_message_the_values_are_hidden_whose_names_are_a_secrets(message: str) -> None:
    assert without_named(message.replace("{}", "hunter2!")) == message.replace("{}", "(hidden)")


def test_a_message_that_has_no_secret_is_kept() -> None:
    told = "error: invalid token: expired\n  why: secrets 'HF_TOKEN': it is in env as well\n  fix: gcloud auth login"
    assert without_named(told) == told


WORDS = st.sampled_from(
    ["DB_PASSWORD=", "--token ", "token=", '"', "'", " ", "\n", ",", "(", "x", "hunter2", " ghp_" + RANDOM]
)


@given(st.lists(WORDS, max_size=12).map("".join))
def test_hidden_messages_have_no_secret_and_nothing_new(text: str) -> None:
    told = without_named(text)
    assert RANDOM not in told
    assert not [line for line in told.splitlines() if line.startswith("DB_PASSWORD=hunter2")]
    assert all(part in text for part in told.split("(hidden)"))


def test_of_a_private_key_no_line_is_shown() -> None:
    text = f"timeout_s: '-----BEGIN PRIVATE KEY-----\\n{KEY_LINE}\\n-----END PRIVATE KEY-----\\n' is no number"
    assert without_secrets(text) == "timeout_s: '(hidden)' is no number"
