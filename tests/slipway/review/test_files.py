"""Kinds of changed files, by their paths from the project's folder. # N14"""

import pytest

from slipway.review.files import deploys, has_pins, seen_from


@pytest.mark.parametrize(
    "path",
    [
        "__main__.py",
        "components/guard.py",
        "slipway/machines/on-demand.csv",
        "Pulumi.yaml",
        "yaml.py",
        "google",
        "jobs",
        "requirements.txt",
        "docs.py",
        ".venv/lib",
        "Makefile",
        "policy/rules.py",
        ".github/CODEOWNERS",
        "docs/CODEOWNERS",
        "../../CODEOWNERS",
        "../../.github/workflows/up.yaml",
        "../../.github/README.md",
        "../.gitmodules",
        "../.gitattributes",
        "../.gitlab-ci.yml",
        "../.ci/slipway.yml",
    ],
)
def test_what_deploys_or_judges(path: str) -> None:
    assert deploys(path)


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "components/README.md",
        "docs/cli.txt",
        "jobs/lora/train.py",
        "stacks/Pulumi.prod.yaml",
        "templates/lora.py",
        "tests/test_stacks.py",
        "../web/sitecustomize.py",
        "../Makefile",
        "../requirements.txt",
    ],
)
def test_what_does_not(path: str) -> None:
    assert not deploys(path)


def test_files_with_pins() -> None:
    names = (
        "requirements.txt",
        "requirements-local.txt",
        "requirements-dev.in",
        "jobs/a/requirements.txt",
        "notes.txt",
    )
    assert [has_pins(name) for name in names] == [True, True, True, False, False]


def test_a_file_as_its_folder_sees_it() -> None:
    assert seen_from("ml/training", ".github/x.yaml") == "../../.github/x.yaml"
    assert seen_from("ml/training", "ml/training/jobs/x.py") == seen_from("", "jobs/x.py") == "jobs/x.py"
