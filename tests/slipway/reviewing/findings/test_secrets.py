"""Likely secrets of files and of templates, and names of secrets, which are none. # N5"""

import pytest

from slipway.model.catalog.template import Parameter, Template
from slipway.model.findings.finding import Grade
from slipway.reviewing.change.files import Files
from tests.slipway.reviewing.edited_files import CODE, TASK, edited, found, lora


def test_a_secret_is_found_and_never_printed() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6a7B8c9D0a1B2c3D4e5F6a7B8"
    findings = found(edited({TASK: CODE}, {TASK: f"{CODE}TOKEN = '{secret}'\n"}), lora("--model=a"))
    assert ("plain-secret", f"file {TASK}") in [(finding.kind, finding.subject) for finding in findings]
    assert secret not in str([(finding.sentence, finding.details) for finding in findings])


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        (lora(), lora("--db-password=hunter2hunter2"), "db-password"),
        (lora(), lora(parameters=[Parameter("db_pass", "str", "hunter2")]), "db_pass"),
        (lora(env={"JUDGE__SECRET": "projects/p/secrets/j"}), lora(env={"JUDGE": "jk-live-5b1d0c7e94fa"}), "JUDGE"),
    ],
)
def test_a_template_s_plain_secret_is_named_and_never_printed(old: Template, new: Template, name: str) -> None:
    (finding,) = [each for each in found(Files(), old, new) if each.kind == "plain-secret"]
    assert (finding.subject, finding.grade) == ("template lora", Grade.BLOCKING)
    assert f"`{name}`" in finding.sentence
    assert "hunter2" not in finding.sentence and "jk-live" not in finding.sentence


@pytest.mark.parametrize(
    "line",
    [
        'secrets={"HF_TOKEN": "projects/acme/secrets/hf-token/versions/12"}',
        '    "HF_TOKEN": "hf-token-of-finetuning-2",',
        '    "HF_TOKEN": "huggingface-token-prod-v2:latest",',
        "  secret: judge-key-of-research-20260901/versions/3",
        "token: ${{ secrets.GITHUB_TOKEN_OF_2026 }}",
    ],
)
def test_the_name_of_a_secret_is_no_secret(line: str) -> None:
    assert found(edited({"tests/a.py": ""}, {"tests/a.py": f"{line}\n"})) == []


@pytest.mark.parametrize(
    "new",
    [
        lora(env={"HF_TOKEN__SECRET": "projects/acme/secrets/hf-token-2/versions/12"}),
        lora(parameters=[Parameter("sort_key", "str", "col_1"), Parameter("pad_token", "str", "<pad>")]),
        lora("--model-key=gpt-4o-mini", "--token-budget=1e5"),
    ],
)
def test_a_template_s_references_and_words_are_no_secrets(new: Template) -> None:
    assert [finding for finding in found(Files(), lora(), new) if finding.kind == "plain-secret"] == []
