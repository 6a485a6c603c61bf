"""The comment of a change: a headline with counts, one row for each resource, everything else folded. # N5 # D7"""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.answers.cost import Costs
from slipway.answers.settings import Setting
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.findings.markdown import code, text
from slipway.reviewing.render.comment import LIMIT, MARKER, Place, comment
from slipway.reviewing.render.text import plain_text
from slipway.reviewing.review import Review

LORA = Subject("template", "gemma2-lora")
H100 = Subject("cluster", "h100")
REJECTED = KINDS["submission-rejected"].of(
    LORA,
    "can no longer run: needs 8 machines of `h100/workers`, maximum is now 4",
    "keep `replicas.max: 8`",
    grade=Grade.BLOCKING,
)
REPLACED = KINDS["cluster-replaced"].of(H100, "replace (create before delete)")
OFFERED = KINDS["submission-accepted"].of(Subject("template", "new"), "is offered")
SETTING = Setting(H100, "pools.workers.replicas.max", "4", "6")
COSTS = Costs(idle_before=101.6, idle=101.6, most_before=406.4, most=608.7)
QUIET = Review("prod", costs=Costs(1.0, 1.0, 2.0, 2.0), quota="sufficient now", policy="passed")


def review(*findings: Finding, **fields: Any) -> Review:
    return replace(QUIET, findings=findings, **fields)


def finding(kind: str, name: str, sentence: str = "changes", **fields: Any) -> Finding:
    return replace(KINDS[kind].of(Subject("template", name), sentence), **fields)


def opened(markdown: str) -> str:
    """Return what a person sees before unfolding anything."""
    return markdown.partition("<details>")[0]


def rows(markdown: str) -> list[str]:
    return [line for line in opened(markdown).splitlines() if line.startswith(("| ⛔", "| ⚠", "| •"))]


def test_the_comment_of_the_issue() -> None:
    written = comment([review(OFFERED, REPLACED, REJECTED, costs=COSTS, settings=(SETTING,))])
    assert opened(written) == (
        f"{MARKER}\n"
        "### Slipway plan for prod: ⛔ 1 blocking · ⚠ 1 warning · up to +&#36;148k/month\n\n"
        "|   | resource | change |\n|---|---|---|\n"
        "| ⛔ | template `gemma2-lora` | can no longer run: needs 8 machines of `h100/workers`, maximum is now 4. "
        "Fix: keep `replicas.max: 8` |\n"
        "| ⚠ | cluster `h100` | replace (create before delete) |\n\n"
        "Cost per month: &#36;74,168 idle, &#36;296,672 → &#36;444,351 at maximum. "
        "Quota: sufficient now. Policy: passed.\n\n"
    )
    assert "All changes (1 setting, 1 more resource)" in written
    assert "| cluster `h100` | `pools.workers.replicas.max` | `4` → `6` |" in written


def test_without_changes_the_headline_is_all() -> None:
    assert comment([QUIET]) == f"{MARKER}\n### Slipway plan for prod: ✓ nothing changes for jobs, money or access\n"


def test_a_changed_setting_is_never_called_nothing() -> None:
    written = comment([review(settings=(SETTING,))])
    assert "• 1 changed setting\n" in written and "nothing changes" not in written


def test_changes_without_harm_are_open_only_if_there_is_nothing_graver() -> None:
    assert rows(comment([review(OFFERED)])) == ["| • | template `new` | is offered |"]
    assert "• 1 change" in comment([review(OFFERED)])
    assert len(rows(comment([review(OFFERED, REPLACED)]))) == 1


def test_findings_of_one_resource_are_one_row_and_the_worst_leads() -> None:
    pool = KINDS["capacity-changed"].of(Subject("pool", "h100/workers"), "has 2 of 4 machines ready")
    cancelled = KINDS["jobs-cancelled"].of(H100, "2 running jobs are cancelled", "wait for them")
    (row,) = rows(comment([review(pool, REPLACED, cancelled)]))
    assert row.startswith("| ⛔ | cluster `h100` | 2 running jobs are cancelled; ")
    assert "pool `workers`: has 2 of 4 machines ready" in row and row.endswith(". Fix: wait for them |")


def test_a_row_without_room_counts_what_it_leaves_out() -> None:
    long = [finding(kind, "a", f"{kind} " + "word " * 30) for kind in ("submission-changed", "submission-warning")]
    (row,) = rows(comment([review(*long)]))
    assert "(and 1 more below)" in row


def test_running_jobs_stand_above_access_and_access_above_cost() -> None:
    kinds = ("most-cost", "quota-short-at-most", "submission-rejected", "access-lost", "jobs-cancelled")
    findings = [finding(kind, kind, grade=Grade.BLOCKING) for kind in kinds]
    assert [row.split("`")[1] for row in rows(comment([review(*findings)]))] == list(reversed(kinds))


def test_the_error_of_a_rejected_deployment_comes_first_with_its_fix() -> None:
    error = KINDS["deployment-rejected"].of(Subject("deployment"), "is rejected: no region", "name one")
    cancelled = KINDS["jobs-cancelled"].of(H100, "2 running jobs are cancelled")
    written = comment([review(cancelled, error, incomplete=("it waits",), undeployed=True)], Place(tree="a" * 40))
    assert "⛔ rejected · ⛔ 2 blocking" in written
    assert rows(written)[0] == "| ⛔ | deployment | is rejected: no region. Fix: name one |"
    assert "> **Nothing is deployed:** it waits" in written and "approval" not in written


def test_at_most_seven_rows_are_open_and_none_is_lost() -> None:
    many = [finding("submission-rejected", f"x{number}", grade=Grade.BLOCKING) for number in range(12)]
    written = comment([review(*many)])
    assert len(rows(written)) == 7 and "⛔ 12 blocking" in written
    assert all(f"`x{number}`" in written for number in range(12))


def test_warnings_beyond_one_screen_are_folded() -> None:
    many = [finding("submission-changed", f"x{number}", "word " * 29) for number in range(7)]
    assert len(rows(comment([review(*many)]))) == 4


def test_stacks_that_change_alike_have_one_row() -> None:
    dev = replace(review(REJECTED), stack="dev")
    written = comment([review(REJECTED, REPLACED), dev, replace(QUIET, stack="test")])
    assert "Slipway plan for prod, dev and test: " in written
    assert [row.split(" | ")[1] for row in rows(written)] == [
        "`prod`, `dev`: template `gemma2-lora`",
        "`prod`: cluster `h100`",
    ]
    assert "`dev`: Cost per month" in written and "`test`: " not in written


def test_the_project_s_folder_is_named_in_a_repository_of_several() -> None:
    written = comment([QUIET], Place(folder="ml/a"))
    assert "### Slipway plan for prod in ml/a: ✓" in written and written.startswith("<!-- slipway-review of ml/a -->")


def test_what_could_not_be_compared_is_named() -> None:
    written = comment([review(incomplete=("jobs can't be read",)), replace(QUIET, stack="dev")])
    assert "⚠ incomplete" in written and "> **Incomplete:** `prod`: jobs can't be read" in written


def test_what_main_has_already_is_folded_and_not_counted() -> None:
    known = review(REJECTED, on_main=frozenset({REJECTED.key}))
    assert "✓ nothing new, 1 finding on main already" in comment([known])
    both = comment([replace(known, findings=(REJECTED, REPLACED))])
    assert "⚠ 1 warning\n" in both and "(on main already)" in both and len(rows(both)) == 1


def test_changed_code_is_a_diff() -> None:
    changed = finding("job-code-changed", "digits", details=("jobs/digits/train.py", "@@ -1 +1 @@", "-a = 1", "+a = 2"))
    written = comment([review(changed)])
    assert "  - jobs/digits/train.py\n\n```diff\n@@ -1 +1 @@\n-a = 1\n+a = 2\n```" in written


def test_a_command_that_fixes_is_code() -> None:
    short = KINDS["quota-short-at-most"].of(
        Subject("quota", "cpus"), "limit 32, 48 needed", "slipway quota --request x=4"
    )
    assert "Fix: `slipway quota --request x=4`" in comment([review(short)])


@pytest.mark.parametrize("count", [10, 1000, 5000])
def test_never_longer_than_a_comment_may_be(count: int) -> None:
    details = tuple(f"`job-{number}` (somebody, running 3 h)" for number in range(count))
    findings = [finding("submission-rejected", f"x{number}", details=details) for number in range(8)]
    plan = tuple(f"create gcp:storage/bucketObject:BucketObject package-{number}" for number in range(count))
    settings = tuple(Setting(H100, f"key{number}", "1", "2") for number in range(count))
    written = comment([review(*findings, plan=plan, settings=settings)])
    assert len(written) <= LIMIT and ("too long" in written) is (count >= 1000)
    assert len(rows(written)) == 7


def test_what_no_form_has_room_for_is_a_headline() -> None:
    unread = tuple(f"{number} {'could not be read ' * 40}" for number in range(300))
    written = comment([review(stack="s" * 70_000, incomplete=unread)])
    assert len(written) <= LIMIT and "Too long for a comment" in written


HOSTILE = [
    "`x` @ada <img src=x onerror=alert(1)> [a](http://evil.example) #12 | --> *b* _c_",
    "a`b`c`",
    "line\n# heading\x1b[31m\u202e",
    "| cell |",
    "`a|![x](https://evil.example/p.png)`",
    "#1ftp://evil.example/ 1www.evil.example",
    "task.py:100:2 of a:tada:b is \ud83d",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_name_of_anything_is_only_shown(hostile: str) -> None:
    found = finding("submission-rejected", hostile, hostile, fix=hostile, details=(hostile,), field=hostile)
    setting = Setting(Subject("cluster", hostile), hostile, hostile, hostile)
    written = comment(
        [review(found, settings=(setting,), incomplete=(hostile,), standing=(hostile,), notes=(hostile,))]
    )
    bare = re.sub(r"`[^`\n]*`", "", written)
    for active in ("<img", "](", "\n# ", "@ada", " #12", "http://", "https://", "ftp://", "www.e", ":100:", ":tada:"):
        assert active not in bare
    assert "\x1b" not in written and "\u202e" not in written
    assert written.encode() and plain_text(review(found))
    tables = [line for line in written.splitlines() if line.startswith("| ⚠")]
    assert all(line.count("|") == 4 for line in tables)


@given(st.text(max_size=60))
def test_no_text_ends_a_line_a_cell_or_a_tag(sentence: str) -> None:
    for shown in (text(sentence), code(sentence)):
        assert "\n" not in shown and "|" not in shown
        assert "<!--" not in shown.replace("`", "") or "`" in shown
    assert "](" not in text(sentence.replace("`", ""))


def test_text_for_a_terminal_has_names_to_copy_and_all_details() -> None:
    detailed = replace(REJECTED, details=("ada@acme.example, 2 submissions",), field="slipway:templates")
    whole = review(detailed, REPLACED, OFFERED, settings=(SETTING,), costs=COSTS)
    lines = plain_text(whole).splitlines()
    assert lines[0] == "Slipway plan for prod: ⛔ 1 blocking · ⚠ 1 warning · up to +$148k/month"
    assert lines[1].startswith("  ⛔ template gemma2-lora: can no longer run: needs 8 machines of h100/workers")
    assert lines[1].endswith("Fix: keep replicas.max: 8  [slipway:templates]")
    assert "  ada@acme.example, 2 submissions" in lines
    assert "  cluster h100 pools.workers.replicas.max: 4 → 6" in lines
    assert "ada@acme.example" not in plain_text(whole, details=False)
    assert plain_text(QUIET, "nothing changes here") == "✓ nothing changes here"
    assert json.dumps(lines)
