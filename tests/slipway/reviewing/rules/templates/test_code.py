"""Code that jobs run, as reviews tell its changes: arguments, images, packages, plain secrets. # N3 # N5"""

from dataclasses import replace

import pytest

from slipway.authoring.stack.secrets import looks_secret
from slipway.reviewing.change.secret_values import HIDDEN, bare
from tests.review.case import Case, Edit
from tests.review.play import play
from tests.slipway.reviewing.rules.templates.two_ways import BLOCKING, LORA, OTHER, PLAIN, SAME, asking, found, only

OWN, MORE = "--index-url https://pip.example/simple", "--extra-index-url https://{}.example"


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        ([], ["--index-url https://pypi.org/simple/"], []),
        ([MORE.format("a"), MORE.format("b")], [MORE.format("b"), f"{MORE.format('a')}/"], []),
        ([], [MORE.format("a")], ["requirements-index"]),
        (["torch==2.4"], ["torch===2.4"], ["requirement-pinned"]),
        (["torch==2.4"], ["torch==2.4+cu121"], ["requirement-unread"]),
        ([OWN, "torch==2.4"], [OWN, "torch==2.4+cu121"], ["requirement-other"]),
    ],
)
def test_an_index_is_one_in_any_spelling_and_place(old: list[str], new: list[str], kinds: list[str]) -> None:
    before, after = (replace(LORA, requirements=tuple(side)) for side in (old, new))
    assert [told.row for told in found(before, after)] == kinds


def test_requirements_are_told_of_the_files_that_are_edited() -> None:
    shared, own = "jobs/common/requirements.txt", "jobs/lora/requirements.txt"
    packed = Edit("templates/lora.py", ':20260901"),', ':20260901", shared=("jobs/common",)),')
    given = (packed, Edit("jobs/common/__init__.py", "", "x = 1\n"), Edit(shared, "", "Sacre_BLEU==2.4.3\n"))
    edits = (Edit(shared, "Sacre_BLEU==2.4.3", "sacre.bleu==2.5.0"), Edit(own, "torch==2.4.1", f"{OWN}\ntorch==2.5.1"))
    told = [each for each in play(Case("", edits, given=given)).consequences if each.kind == "requirements-changed"]
    assert [(each.row, each.field) for each in told] == [
        ("requirements-index", f"{shared}, {own}"),
        ("requirement-other", f"{shared}, {own}"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        (SAME, SAME.replace("acme/", "acme-prod/"), False),
        (SAME, SAME.replace("judge", "judge-2"), False),
        (SAME, OTHER, True),
        (SAME, OTHER.replace("acme/", "acme-prod/"), True),
    ],
)
def test_a_copy_of_an_image_has_nothing_else_in_it(old: str, new: str, differs: bool) -> None:
    before, after = (asking(image=image) for image in (old, new))
    assert ("results may differ" in only(before, after).sentence) is differs


@pytest.mark.parametrize(
    ("value", "on_disk"),
    [
        ("/tmp/x", True),
        ("./x", True),
        ("out/x", True),
        ("https://example.com/x", False),
        ("/mnt/x", False),
        ("x", False),
    ],
)
def test_a_place_for_results_is_on_a_disk_where_its_path_says_so(value: str, on_disk: bool) -> None:
    told = only(asking(env={"OUTPUT_DIR": "gs://acme/x"}), asking(env={"OUTPUT_DIR": value}))
    assert ("on a machine's disk" in told.does) is on_disk


REQUIRES = """    parser.add_argument("-o", "--output", required=True)
    for name in ("--model", "--steps", "--rank", "--precision"):
        parser.add_argument(name)
    parser.parse_args()
"""


GIVEN = '    "--output=${slipway.output}",\n'


@pytest.mark.parametrize(
    ("given", "code", "row"),
    [
        ('    "-o=${slipway.output}",\n', REQUIRES, "arguments-other"),
        ('    "--out=${slipway.output}",\n', REQUIRES, "arguments-other"),
        ("", REQUIRES, "arguments-unmet"),
        (f'{GIVEN}    "--lr=1",\n', REQUIRES, "arguments-strange"),
        (f'{GIVEN}    "--lr=1",\n', f"    add_more(parser)\n{REQUIRES}", "arguments-other"),
        (
            f'{GIVEN}    "--lr=1",\n',
            f"    def add(parser):\n        pass\n    add(parser)\n{REQUIRES}",
            "arguments-strange",
        ),
        (
            f'{GIVEN}    "--lr=1",\n',
            REQUIRES.replace(".parse", " = Parser(parents=[of])\n    parser.parse"),
            "arguments-other",
        ),
    ],
)
def test_an_argument_is_known_in_each_form_and_from_any_module(given: str, code: str, row: str) -> None:
    known = Edit("jobs/lora/task.py", '    print("trained", EVERY)\n', code)
    case = Case("", (Edit("templates/lora.py", GIVEN, given),), given=(known,))
    rows = {told.row for told in play(case).consequences}
    assert row in rows and rows & {"arguments-unmet", "arguments-strange"} <= {row}


def test_a_file_that_jobs_start_is_no_test_whatever_its_name() -> None:
    starts = Edit("templates/lora.py", "lora.task", "lora.test_run")
    given = (Edit("jobs/lora/test_run.py", "", "x = 1\n"), starts)
    case = Case("", (Edit("jobs/lora/test_run.py", "x = 1", "x = 2"),), given=given)
    assert [told.row for told in play(case).consequences] == ["code-changed"]


def test_code_out_of_another_bucket_than_the_catalog_s_blocks() -> None:
    finding = only(LORA, replace(LORA, package=LORA.package.replace("gs://acme-catalog/", "gs://evil/")))
    assert (finding.kind, finding.grade) == ("code-changed", BLOCKING)
    assert "`gs://evil/packages/lora/0123456.tar.gz`" in finding.sentence


def test_lines_of_one_package_are_compared_together() -> None:
    twice = replace(LORA, requirements=("torch==2.4; python_version<'3.12'", "torch==2.3; python_version>='3.12'"))
    assert "results may differ" in only(LORA, twice).sentence
    assert found(twice, replace(twice, requirements=twice.requirements[::-1])) == []
    assert only(LORA, replace(LORA, requirements=LORA.requirements * 2)).kind == "requirements-changed"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HF_TOKEN", "abc"),
        ("DB", "postgres://u:pw@host/db"),
        ("X", "hf_" + "a" * 20),
        ("API_KEY", "k" * 9),
        ("JUDGE_KEY", "jk-1"),
        ("HFTOKEN", "abc"),
    ],
)
def test_a_secret_in_plain_text_is_blocking_and_not_shown(name: str, value: str) -> None:
    some = found(PLAIN, asking(env={name: value}))
    assert {consequence.kind for consequence in some} == {"plain-secret"}
    assert max(consequence.grade for consequence in some) is BLOCKING
    assert value not in repr(some)
    assert found(asking(env={name: value}), asking(env={name: value})) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HF_TOKEN__SECRET", "projects/p/secrets/hf/versions/1"),
        ("TOKENS", "300"),
        ("API_KEY_FILE", "/gcs/x"),
        ("SORT_KEY", "user_id"),
        ("PAD_TOKEN", "<pad>"),
        ("HF_TOKEN", "${token}"),
    ],
)
def test_a_reference_to_a_secret_is_none(name: str, value: str) -> None:
    assert "plain-secret" not in {consequence.kind for consequence in found(PLAIN, asking(env={name: value}))}


def test_a_value_of_megabytes_takes_no_longer_than_a_short_one() -> None:
    assert not looks_secret("eyJaaaaaaaaaa-" * 1_000_000)
    beside = "x" * 9000 + " a"
    assert bare("x" * 9000 + " hf_" + "a" * 40, beside=beside) == HIDDEN


def test_code_is_told_neither_of_another_spelling_nor_of_a_subcommand_nor_of_what_the_service_sets() -> None:
    asks = (
        '    parser.add_argument("--base", "--model", required=True)\n',
        '    command = parser.add_subparsers().add_parser("merge")\n',
        "    of = command.add_argument_group()\n",
        '    of.add_argument("--into", required=True)\n',
        '    os.environ.get("AIP_MODEL_DIR", "/tmp")\n',
    )
    edit = Edit("jobs/lora/task.py", '    print("trained", EVERY)\n', "".join(asks))
    told = play(Case("", (edit,))).consequences
    assert [part.kind for part in told] == ["code-changed"]
    assert not [detail for part in told for detail in part.details if "nothing sets" in detail]


@pytest.mark.parametrize("key", ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "TOKEN=hunter2!"])
def test_a_secret_that_stands_in_a_name_is_not_repeated(key: str) -> None:
    before, after = (asking(env={name: value}) for name, value in (("A", "1"), (key, key)))
    told = found(before, after)
    assert "plain-secret" in [each.kind for each in told] and key not in repr(told)


@pytest.mark.parametrize("index", ["https://admin:admin@pip.example", "https://pip.example/a1b2c3d4e5f6a7b8/simple"])
def test_a_secret_of_an_index_is_hidden(index: str) -> None:
    before, after = replace(LORA, requirements=()), replace(LORA, requirements=(f"--index-url {index}",))
    told = found(before, after)
    assert HIDDEN in repr(told) and index not in repr(told)
