"""Edits of the program, of what deploys it and its packages; previews that fail or are refused. # N5 # N14 # D7"""

from collections.abc import Iterable

import pytest

from slipway.deploying.engine.events import read
from slipway.deploying.engine.preview import Preview
from slipway.model.findings.finding import Grade
from slipway.reviewing.change.change import Files
from slipway.reviewing.change.edits import Edit, edits
from slipway.reviewing.change.files import deploys, has_pins, seen_from
from slipway.reviewing.change.pins import changed
from slipway.reviewing.change.secret_values import HIDDEN
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.program import GUARD, deploying, program
from tests.slipway.reviewing.builders import STACK, change, facts
from tests.slipway.reviewing.recordings import lines


def kinds(some: Iterable[Consequence]) -> list[tuple[str, str]]:
    return [(consequence.kind, consequence.subject) for consequence in some]


def test_a_link_is_read_whatever_it_stands_for() -> None:
    file = frozenset({"templates/lora.py"})
    (consequence,) = program(change(facts(), facts(), files=Files(file, links=file)))
    assert consequence.kind == "program-edited"
    assert "keep what jobs alone run" not in consequence.instead, "the link is below `jobs/`, or no job's"


def test_a_name_with_a_backtick_is_one_name() -> None:
    files = Files(frozenset({"a`b`.py", "c.py"}))
    (consequence,) = program(change(facts(), facts(), files=files))
    assert "`a'b'.py`" in str(consequence) and consequence.details == ("`a'b'.py`", "`c.py`")


def test_a_compiled_pipeline_is_judged_by_its_template_alone() -> None:  # N28
    files = Files(frozenset({"pipelines/train.yaml", "pipelines/train.py"}))
    (consequence,) = program(change(facts(), facts(), files=files))
    assert "train.py`" in str(consequence) and "train.yaml" not in str(consequence)


def test_packages_of_several_files_are_one_consequence() -> None:
    a, b = (Edit(name, "1", "2") for name in "ab")
    pins = {"requirements.txt": (a, b), "requirements-local.txt": (a,)}
    (finding,) = program(change(facts(), facts(), files=Files(frozenset(pins), pins=pins)))
    assert (finding.kind, finding.subject, finding.grade) == ("pins-changed", "program packages", Grade.BLOCKING)
    assert finding.edits == (a, b)


def test_an_error_of_the_program_names_its_line_and_no_frame() -> None:
    fault = (
        "Program failed with an unhandled exception:\nTraceback (most recent call last):\n"
        '  File "/repo/__main__.py", line 8, in <module>\n    PoolArgs(machin=PASSWORD)\n'
        "TypeError: PoolArgs.__init__() got an unexpected keyword argument 'machin'\n"
    )
    (consequence,) = program(change(facts(), facts(), preview=Preview(errors=(fault,))))
    said = "The deployment is refused: __main__.py line 8: TypeError: PoolArgs.__init__() got an unexpected keyword"
    assert consequence.sentence == f"{said} argument 'machin'"
    assert (consequence.instead, consequence.details) == ("correct __main__.py", ())


def test_the_hooks_of_a_recorded_preview() -> None:
    assert read(lines("buckets")).hooks == frozenset({GUARD, "slipway-create-v1"})
    unguarded = [line for line in lines("buckets") if GUARD not in line]
    hooks = program(change(facts(), facts(), preview=read(unguarded)))
    assert kinds(hooks) == [("guard-removed", "guard")]
    assert read(line for line in unguarded if "diagnosticEvent" not in line).hooks is None


A, B = "a" * 64, "b" * 64
AT = "https://example.com/slipway_vertex-{}-py3-none-any.whl"
OLD = f"slipway-vertex[deploy] @ {AT.format('0.1.0')}#sha256={A}\nclick==8.2.0 \\\n    --hash=sha256:{B}\n"


TOKEN = "https://pypi.example/a1b2c3d4e5f6a7b8/simple"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("0.1.0", "0.2.0", "`slipway-vertex` 0.1.0 → 0.2.0"),
        (A, B, "`slipway-vertex` 0.1.0 → `0.1.0, from elsewhere or with other hashes`"),
        ("click==8.2.0", "click>=8", "`click` 8.2.0 → `>=8`"),
        ("click==8.2.0", "click", "`click` 8.2.0 → `any version`"),
        ("click==8.2.0", "# by hand\nCLICK==8.2.0", ""),
        ("click==8.2.0", "rich==1.0\nclick==8.2.0", "`rich` none → 1.0"),
        (
            "click==8.2.0",
            "click==8.2.0 ; python_version < '3.12'\nclick==8.2.0",
            "`click` 8.2.0 → `8.2.0 ==8.2.0 ; python_version < '3.12'`",
        ),
        ("click==8.2.0", "--index-url https://a:b@pypi.example\nclick==8.2.0", "`--index-url` none → `(not shown)`"),
        ("click==8.2.0", "-i https://a:a@pypi.example\nclick==8.2.0", "`-i` none → `(not shown)`"),
        ("click==8.2.0", f"--index-url={TOKEN}\nclick==8.2.0", "`--index-url` none → `(not shown)`"),
        ("click==8.2.0", f"-i{TOKEN}\nclick==8.2.0", "`(not shown)` none → `given`"),
        (
            AT.format("0.1.0"),
            "git+https://example.com/x.git@v2",
            "`slipway-vertex` 0.1.0 → `@ git+https://example.com/x.git@v2`",
        ),
    ],
)
def test_what_differs(old: str, new: str, told: str) -> None:
    assert [str(edit) for edit in changed(OLD, OLD.replace(old, new))] == ([told] if told else [])


def test_slipway_comes_first() -> None:
    first, second = changed(OLD, OLD.replace("8.2.0", "8.3.0").replace("0.1.0", "0.2.0"))
    assert (first.key, second.key) == ("slipway-vertex", "click")


DEPLOY = """
    __main__.py components/guard.py slipway/model/machines/on-demand.csv Pulumi.yaml yaml.py google jobs
    requirements.txt docs.py .venv/lib Makefile policy/rules.py .github/CODEOWNERS docs/CODEOWNERS ../../CODEOWNERS
    ../../.github/workflows/up.yaml ../../.github/README.md ../.gitmodules ../.gitattributes ../.gitlab-ci.yml
    ../.ci/slipway.yml pipelines/train.py
"""
OTHERS = """
    README.md components/README.md docs/cli.txt jobs/lora/train.py stacks/Pulumi.prod.yaml templates/lora.py
    tests/test_stacks.py ../web/sitecustomize.py ../Makefile ../requirements.txt
    pipelines/train.yaml pipelines/eu/train.json
"""


def test_what_deploys_or_judges() -> None:
    assert [path for path in DEPLOY.split() if not deploys(path)] == []
    assert [path for path in OTHERS.split() if deploys(path)] == []


def test_files_with_pins() -> None:
    assert all(map(has_pins, ("requirements.txt", "requirements-local.txt", "requirements-dev.in")))
    assert not any(map(has_pins, ("jobs/a/requirements.txt", "notes.txt")))


def test_a_file_as_its_folder_sees_it() -> None:
    assert seen_from("ml/training", ".github/x.yaml") == "../../.github/x.yaml"
    assert seen_from("ml/training", "ml/training/jobs/x.py") == seen_from("", "jobs/x.py") == "jobs/x.py"


BEFORE = """
config:
  slipway:persistentResources:
    h100: { pools: { workers: { replicas: 2 } } }
  slipway:workspace:
    submitters: [a@acme.example, b@acme.example]
"""


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("gcp:impersonateServiceAccount", True),
        ("pulumi:disable-default-providers", True),
        ("secretsprovider", True),
        ("gcp:project", False),
        ("acme:team", False),
    ],
)
def test_what_the_engine_deploys_as_needs_an_approval(key: str, told: bool) -> None:
    files = Files(stacks={STACK: (Edit(key, "", "x"),)})
    listed = list(deploying(change(facts(), facts(), files=files)))
    assert [(consequence.kind, consequence.field) for consequence in listed] == [("program-edited", key)] * told


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("replicas: 2", "replicas: 3", [Edit("slipway:persistentResources.h100.pools.workers.replicas", "2", "3")]),
        (
            ", b@acme.example",
            "",
            [Edit("slipway:workspace.submitters", "a@acme.example, b@acme.example", "a@acme.example")],
        ),
        ("a@acme.example, b@acme.example", "b@acme.example, a@acme.example", []),
        ("replicas: 2", "replicas:   2  # two", []),
        ("config:", "config: [", []),
        ("config:", "config:\n  a:b: !!binary aGk=", [Edit("a:b", "", "\"b'hi'\"")]),
        ("config:", "secretsprovider: x\nconfig:", [Edit("secretsprovider", "", "x")]),
    ],
    ids=("value", "list", "order", "form", "no YAML", "bytes", "top level"),
)
def test_keys_that_differ(old: str, new: str, told: list[Edit]) -> None:
    assert list(edits(BEFORE, BEFORE.replace(old, new))) == told


def test_no_secret_is_shown() -> None:
    after = f"{BEFORE}  other:token: {{ secure: v1:abc }}\n  other:password: hunter2-hunter2\n"
    after = f"encryptionsalt: v1:abc:v1:abc\nencryptedkey: abc\n{after}"
    assert {edit.after for edit in edits(BEFORE, after)} == {HIDDEN}
