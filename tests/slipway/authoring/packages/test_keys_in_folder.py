"""Keys in a folder of code: what is refused before it is sent, what is told, and what is no key. # N11 # N25"""

import re
from pathlib import Path

import pytest

from slipway.authoring.packages.source_package import require_no_key
from slipway.authoring.packages.working_tree import IGNORES, read
from slipway.base.errors import ConfigError
from tests.checkouts.git import git

from .folder import folder, told

__all__ = ["folder"]

KEY = '{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----"}'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", "export WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567\n"),  # silicx/exUMI 2
        ("train.py", "wandb.login(key='0123456789abcdef0123456789abcdef01234567')\n"),  # naver-ai/DUO 2
        ("train.py", "os.environ['KAGGLE_KEY'] = '0123456789abcdef0123456789abcdef'\n"),
        ("nb.ipynb", r'{"source": ["os.environ[\"HF_TOKEN\"] = \"hf_abcdefghijklmnopqrst\"\n"]}'),
        ("credentials.py", "AZURE_SEARCH_KEY = 'abcDEF0123456789abcDEF0123456789'\n"),
        ("notes.txt", "The team's key:\nWANDB_API_KEY=0123456789abcdef0123456789abcdef01234567\n"),
        ("README.md", "    api_key: 0123456789abcdef0123456789abcdef01234567\n"),
    ],
)
def test_a_key_in_a_program_is_told(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    assert f"! {name}: what looks like a key is in it, and others can read it: --secret" in told(folder, "nvidia-smi")


@pytest.mark.parametrize(
    "text",
    [
        "token = os.environ['WANDB_API_KEY_OF_THE_TEAM_2']",
        "api_key = settings.production_api_key_number_2",
        "export HF_TOKEN=$TOKEN_OF_SOMEBODY_1234567890",
        "pad_token = '<pad>'; token = tokenizer.decode(ids[0])",
        "secret = 'projects/acme/secrets/wandb/versions/12'",
        "hash = '0123456789abcdef0123456789abcdef01234567'",
        "print('log in: wandb login')",
    ],
)
def test_what_is_no_key_in_a_program_is_not_told(folder: Path, text: str) -> None:
    (folder / "train.py").write_text(f"{text}\n")
    assert "looks like a key" not in told(folder, "python train.py")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".env", "# mine\nWANDB_API_KEY=0123456789abcdef0123456789abcdef01234567\n"),
        ("conf/.env.local", "HF=hf_abcdefghijklmnopqrst\n"),
        ("key.json", KEY),
        ("ci/gha-creds-0123456789abcdef.json", KEY),
        ("id_rsa", "-----BEGIN RSA PRIVATE KEY-----\n"),
        (".netrc", "machine x password ghp_abcdefghijklmnopqrstuvwx\n"),
        (".netrc", "machine api.wandb.ai\n  login user\n  password 0123456789abcdef0123456789abcdef01234567\n"),
        (".envrc", "export OPENAI_API_KEY=sk-proj-a_b-abcdefghijklmnopqrst\n"),
        (".kaggle/kaggle.json", '{"username":"ada","key":"0123456789abcdef0123456789abcdef"}'),
        (".huggingface/token", "hf_abcdefghijklmnopqrst"),
        ("prod.tfvars", 'token = "hf_abcdefghijklmnopqrst"\n'),
        ("deploy_key", "-----BEGIN OPENSSH PRIVATE KEY-----\n"),
        ("env.txt", "# mine\n\nLR=0.1\nWANDB_API_KEY=0123456789abcdef0123456789abcdef01234567\n"),
        ("conf/env", 'export OPENAI_API_KEY="sk-proj-a_b-abcdefghijklmnopqrst"\r\n'),
        ("variables.list", "DATABASE_PASSWORD = hunter2"),
        ("hf.txt", "hf_abcdefghijklmnopqrst\n"),
        (".aws/credentials", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n"),
        ("conf.yaml", "wandb:\n  api_key: 0123456789abcdef0123456789abcdef01234567\n"),
        ("task.yaml", "envs:\n  - WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567\n"),
        ("secrets.toml", 'WANDB_API_KEY = "0123456789abcdef0123456789abcdef01234567"\n'),
        ("wandb/settings", "[default]\napi_key = 0123456789abcdef0123456789abcdef01234567\n"),
        ("_netrc", "machine api.wandb.ai login user password 0123456789abcdef0123\n"),
    ],
)
def test_a_folder_with_a_key_is_refused_and_goes_without_the_file(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    git(folder, "add", "-f", name)
    with pytest.raises(ConfigError, match="has a key in ") as error:
        require_no_key(read(folder).files, "the folder project", "…")
    assert name in error.value.what and "0123456789abcdef0123" not in str(error.value.render()).replace(name, "")
    (folder / IGNORES).write_text(f"{name}\n")
    require_no_key(read(folder).files, "the folder project", "…")


@pytest.mark.parametrize(("name", "coding"), [(".env", "utf-16"), ("env.txt", "utf-16"), ("env.txt", "utf-8-sig")])
def test_a_key_in_a_text_as_windows_writes_it_is_found(folder: Path, name: str, coding: str) -> None:
    (folder / name).write_text("WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567\n", coding)
    with pytest.raises(ConfigError, match=f"has a key in {re.escape(name)}"):
        require_no_key(read(folder).files, "the folder project", "…")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".env", "LR=0.1\nDATA=gs://a/b\nWANDB_MODE=offline\n"),
        (".env.example", "WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567\n"),
        (".env", "GOOGLE_APPLICATION_CREDENTIALS=conf/sa.json\nEOS_TOKEN=</s>\nHF_TOKEN=\nSORT_KEY=created_at\n"),
        ("mkdocs.yml", "base: task-sk-learn-classifier-model\nname: sk-learn-logistic-regression\n"),
        ("docker-compose.yml", "DATABASE_URL: postgres://postgres:postgres@db:5432/app\n"),
        ("package-lock.json", '{"integrity": "sha512-abcdEFGH0123456789abcdEFGH0123456789=="}'),
        ("terraform.tfstate", '{"outputs": {"region": {"value": "europe-west4"}}}'),
        ("ci.yml", "token: ${{ secrets.HF_TOKEN }}\n"),
        ("ca.pem", "-----BEGIN CERTIFICATE-----\n"),
        ("tokenizer_config.json", '{"eos_token": "</s>", "token": "hf_"}'),
        ("jobs.yaml", "secrets: {WANDB_API_KEY: wandb-key-of-team-2024-01, HF_TOKEN: projects/acme/secrets/hf}\n"),
        (
            "dvc.yaml",
            "cache_key: 0123456789abcdef0123456789abcdef\nrevision: 0123456789abcdef0123456789abcdef01234567\n",
        ),
        ("notes.md", "A key begins with -----BEGIN RSA PRIVATE KEY-----\n"),
        ("tokenizer.json", '{"pad_token": "<pad>", "vocab": {"skiing": 1}}'),
        ("train.py", "KEY = 'hf_abcdefghijklmnopqrst'\n"),
        ("env.txt", "LR=0.1\nHF_TOKEN=\n"),
        ("env.example.txt", "WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567\n"),
        ("requirements.txt", "TOKEN==1.0\n"),
        ("params.txt", "pad_token=PAD\nsort_key=created\n"),
        ("notes.txt", "Set WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567\n"),
        ("ids.txt", "1//abcdefghijklmnopqrstuvw\nx\n"),
    ],
)
def test_what_is_no_key_is_packed(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    require_no_key(read(folder).files, "the folder project", "…")
