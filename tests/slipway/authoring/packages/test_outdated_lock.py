"""A lock that is older than the file whose requirements it locks is reported before anything is sent."""

import pytest

from slipway.authoring.packages.outdated_lock import outdated

PACKAGE = '[[package]]\nname = "six"\nversion = "1.17.0"\nsource = { registry = "https://pypi.org/simple" }\n'
ROOT = '[[package]]\nname = "x"\nsource = { virtual = "." }\n[package.metadata]\nrequires-dist = ['
UV = ROOT + '{ name = "six", specifier = ">=1.2.0,<2" }, { name = "np", specifier = ">=1.0b1" }]\n' + PACKAGE
MEMBER = (
    '[[package]]\nname = "acme"\nsource = { editable = "libs/acme" }\ndependencies = [{ name = "six" }]\n' + PACKAGE
)
OF_SCRIPT = '[manifest]\nrequirements = [{ name = "six" }]\n' + PACKAGE
POETRY = '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\npython = "^3.11"\nsix = "*"\n'
OLDER = "! uv.lock is older than pyproject.toml, which lists "


def project(*dependencies: str) -> str:
    return f'[project]\nname = "x"\ndependencies = {list(dependencies)}\n'


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"pyproject.toml": project("six >= 1.2.0, <2", "np>=1.0-beta1"), "uv.lock": UV}, ""),
        ({"pyproject.toml": project("six (<2,>=1.2.0)"), "uv.lock": UV}, ""),
        ({"pyproject.toml": project("Six>=1.2.0,<2", "tqdm"), "uv.lock": UV}, f"{OLDER}tqdm: uv lock"),
        ({"pyproject.toml": project("six>=1.3; sys_platform > 'a'"), "uv.lock": UV}, f"{OLDER}six>=1.3: uv lock"),
        ({"pyproject.toml": project("tqdm"), "uv.lock": UV, "requirements.txt": "tqdm\n"}, ""),
        ({"pyproject.toml": project("tqdm")}, ""),
        (
            {"libs/acme/pyproject.toml": project("six", "tqdm"), "uv.lock": MEMBER},
            "! uv.lock is older than libs/acme/pyproject.toml, which lists tqdm: uv lock",
        ),
        (
            {"train.py": '# /// script\n# dependencies = ["six", "tqdm"]\n# ///\n', "train.py.lock": OF_SCRIPT},
            "! train.py.lock is older than train.py, which lists tqdm: uv lock --script train.py",
        ),
        ({"pyproject.toml": POETRY, "poetry.lock": PACKAGE}, ""),
        (
            {"pyproject.toml": POETRY + 'tqdm = "*"\n', "poetry.lock": PACKAGE},
            "! poetry.lock is older than pyproject.toml, which lists tqdm: poetry lock",
        ),
        ({"pyproject.toml": "[", "uv.lock": UV}, ""),
    ],
)
def test_a_lock_without_what_its_file_lists_is_reported(files: dict[str, str], said: str) -> None:
    packed = {name: text.encode() for name, text in files.items()}
    assert [*outdated(packed, "train.py")] == ([said] if said else [])
