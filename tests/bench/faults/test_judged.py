"""What an outcome is about: code that the command can run, and neither words nor other commands' code. # N2"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.faults.judged import Codes, Sources, bare, judged

ROOT = Path(__file__).parents[3]
FILES = {
    "__main__.py": "def main():\n    from components import all_of_it\n",
    "Pulumi.yaml": "name: slipway\n",
    "components/__init__.py": "",
    "components/all_of_it.py": "from slipway.tables import rows\nfrom slipway.review import review\n",
    "slipway/review/__init__.py": "",
    "slipway/review/review.py": "",
    "slipway/__init__.py": (
        "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from slipway.api import submit\n\n\n"
        "def __getattr__(name):\n    import importlib\n\n    return importlib.import_module('slipway.api')\n"
    ),
    "slipway/api.py": "from slipway.cli import terminal\n",
    "slipway/__main__.py": "import slipway.cli\n",
    "slipway/tables/__init__.py": "",
    "slipway/tables/rows.py": '"""Rows."""\nROWS = 1  # one\n',
    "slipway/tables/prices.csv": "1\n",
    "slipway/cli/__init__.py": "",
    "slipway/cli/submit.py": "from . import terminal\n",
    "slipway/cli/terminal.py": "",
    "slipway/cli/jobs.py": "",
    "slipway/template/__init__.py": "",
    "slipway/packages/slipway_launcher.py": "",
    "local/cloud/rules.py": "",
    "local/plugin/server.py": "",
    "tests/local/cloud/test_rules.py": "",
    "tests/checkouts/nap.py": "",
    "bench/faults/ending.py": "",
}
NAMES = ("create", "submit", "clean", "mutants")
KEYS = (
    ("points", "create · GET /a · 1 · cut"),
    ("points", "submit · GET /a · 1 · cut"),
    ("cleans", "create"),
    ("mutants", "rules.py:f#1"),
)


def digests(root: Path) -> tuple[str, ...]:
    codes = Codes(root, {"create": ("pulumi", "up"), "submit": ("slipway", "submit")})
    assert codes("points", "gone · GET /a · 1 · cut") == ""
    return tuple(codes(*key) for key in KEYS)


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("__main__.py", {"create", "clean"}),
        ("components/all_of_it.py", {"create", "clean"}),
        ("slipway/tables/rows.py", {"create", "clean"}),
        ("slipway/tables/prices.csv", {"create", "clean"}),
        ("slipway/review/review.py", {"clean"}),
        ("slipway/cli/terminal.py", {"submit"}),
        ("slipway/cli/jobs.py", set[str]()),
        ("slipway/__init__.py", {"create", "submit", "clean"}),
        ("slipway/packages/slipway_launcher.py", {"create", "submit", "clean"}),
        ("local/plugin/server.py", {"create", "clean"}),
        ("local/cloud/rules.py", {"create", "submit", "clean", "mutants"}),
        ("bench/faults/ending.py", {"clean"}),
        ("tests/local/cloud/test_rules.py", {"mutants"}),
    ],
)
def test_what_a_command_can_run_makes_its_outcomes_old_and_nothing_else_does(
    tmp_path: Path, file: str, changed: set[str]
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    before = digests(tmp_path)
    (tmp_path / file).write_text(FILES[file] + "MORE = 2\n")
    now = digests(tmp_path)
    assert {name for name, old, new in zip(NAMES, before, now, strict=True) if old != new} == changed


@pytest.mark.parametrize(
    "program",
    ["from slipway import submit\n", "import slipway\n", "def main():\n    from slipway import submit\n"],
)
def test_what_a_package_gives_lazily_counts_where_it_is_asked(tmp_path: Path, program: str) -> None:
    for name, text in {**FILES, "__main__.py": program}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    before = digests(tmp_path)[0]
    (tmp_path / "slipway/cli/terminal.py").write_text("MORE = 2\n")
    assert digests(tmp_path)[0] != before


def test_what_only_a_type_checker_reads_does_not_count(tmp_path: Path) -> None:
    program = FILES["__main__.py"] + "if TYPE_CHECKING:\n    from slipway.cli.terminal import Screen\n"
    for name, text in {**FILES, "__main__.py": program}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    before = digests(tmp_path)[0]
    (tmp_path / "slipway/cli/terminal.py").write_text("MORE = 2\n")
    assert digests(tmp_path)[0] == before


def test_words_about_the_code_are_no_part_of_it() -> None:
    said = b'"""Rows."""\n\n\nclass A:\n    """A row."""\n\n    b = "kept"  # why\n'
    assert bare(said) == bare(b'class A: b = "kept"') != bare(b'class A: b = "else"')


def test_all_that_submit_imports_is_judged() -> None:
    sources = Sources(ROOT)
    known = judged(sources, ("slipway", "submit"))
    ask = "import sys, slipway.__main__, slipway.cli.submit; print(*(m.__file__ for m in sys.modules.values() if"
    ask += " m.__name__.partition('.')[0] == 'slipway'))"
    done = subprocess.run([sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {Path(file).relative_to(ROOT) for file in done.stdout.split()}
    assert len(loaded) > 30
    assert loaded <= known
    assert not {file for file in known if file.parts[:2] in (("slipway", "review"), ("slipway", "doctor"))}
