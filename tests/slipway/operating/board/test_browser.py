"""The board in a real browser: every panel is drawn, nothing is loaded or run but the page's own, and tables say what
charts show. # Z5"""

from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any

import pytest

from bench import month
from slipway.operating.board.document import as_json, board_of
from slipway.operating.history.model import History
from tests.slipway.operating.board.conftest import JOBS, Looked, Looking
from tests.slipway.operating.board.moment import board
from tests.slipway.operating.board.test_life import study

pytestmark = pytest.mark.journey

CHARTS = {"pools": "rect", "gauges": "rect", "band": "rect", "days": "rect"}
CHARTS |= {"parallel": "line", "scatter": "symbol", "curves": "line"}


@cache
def the_past() -> History:
    return month.history(JOBS)


@cache
def shown() -> dict[str, Any]:
    return board(JOBS)


def money(text: str) -> float:
    return float(text.strip("≤ $+").replace(",", ""))


def test_every_chart_is_drawn_and_nothing_else_happens(looked: Looked) -> None:
    for name, mark in CHARTS.items():
        assert looked.rows(f"[data-chart={name}]", mark), name
    too_wide = """() => [...document.querySelectorAll('.chart svg')]
        .filter((one) => one.viewBox.baseVal.width > one.closest('.chart').clientWidth + 1)
        .map((one) => one.closest('.chart').ariaLabel)"""
    assert looked.page.evaluate(too_wide) == [], "charts are drawn at the page's width, and not shrunk to it"
    assert [request for request in looked.asked if not request.startswith("file:")] == []
    assert len(looked.asked) == 1


def test_no_words_of_a_chart_are_written_over_others(look: Looking) -> None:
    commands = (f"python train.py --optimizer {name} --restarts" for name in ("adam", "adamw", "lion", "sgd", "sophia"))
    rates = ("0.1", "0.099", "0.098", "0.0001", "0.00011")
    runs = (
        ({"command": command, "rate": rate, "width": str(n)}, n / 7)
        for n, (command, rate) in enumerate(zip(commands, rates, strict=True))
    )
    looked = look({**shown(), "sweeps": as_json(board_of(the_past(), sweeps=(study(*runs),)), 2)["sweeps"]})
    assert looked.texts("[data-chart=parallel]") and looked.texts("[data-chart=scatter]")
    script = """() => [...document.querySelectorAll('.chart svg')].flatMap((chart) => {
        const shown = (one) => one.textContent && one.getAttribute('opacity') !== '0';
        const texts = [...chart.querySelectorAll('text')].filter(shown);
        const boxes = texts.map((one) => [one.textContent, one.getBoundingClientRect()]);
        const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
        const name = chart.closest('.chart').dataset.chart;
        return boxes.flatMap(([text, box], at) => boxes.slice(at + 1)
            .filter(([, other]) => over(box, other)).map(([other]) => [name, text, other]));
    })"""
    for width in (1200, 360):
        looked.turn(width=width)
        assert looked.page.evaluate(script) == [], width
    clear = """() => [...document.querySelectorAll('[data-chart=parallel] .role-mark.mark-text text')]
        .filter((one) => getComputedStyle(one).paintOrder !== 'stroke' || one.getAttribute('stroke') === null)"""
    assert looked.page.evaluate(clear) == [], "nor crossed by a line"


def test_on_the_first_day_of_a_stack_that_day_is_shown(look: Looking) -> None:
    """A week of emptiness was, at whose end something could not be seen."""
    until = the_past().until
    job = next(job for job in the_past().jobs if job.capacity_type == "on-demand" and job.started)
    begin, end = until - timedelta(hours=3), until - timedelta(hours=1)
    first = replace(job, created=begin, started=begin, ended=end, preemptions=())
    past = replace(the_past(), jobs=(first,), deployments=(), samples=())
    looked = look(as_json(board_of(past), 2))
    assert looked.page.locator("#time input[data-param=days]:checked").get_attribute("value") == "1"
    assert looked.said == []


def test_a_click_on_a_job_leads_to_it_and_so_does_its_row(looked: Looked) -> None:
    page = looked.page
    page.locator("#rows a").first.click()
    page.wait_for_function("() => !document.getElementById('one').hidden")
    newest = the_past().jobs[-1]
    assert page.locator("#one h3").text_content() == newest.display_name
    name = page.evaluate(
        """() => {
            const width = (one) => one.getBoundingClientRect().width;
            const widest = [...document.querySelectorAll('#time article:nth-of-type(2) .mark-rect path')]
                .filter((one) => one.__data__?.datum?.displayName).sort((a, b) => width(b) - width(a))[0];
            widest.scrollIntoView({ block: 'center', behavior: 'instant' });
            widest.id = 'widest';
            return widest.__data__.datum.displayName;
        }"""
    )
    page.locator("#widest").click()
    page.wait_for_function("(name) => document.querySelector('#one h3').textContent === name", arg=name)


def test_the_table_of_a_sweep_says_what_its_charts_show(looked: Looked) -> None:
    (sweep,) = shown()["sweeps"]
    heads = looked.page.evaluate(
        "() => [...document.querySelectorAll('#sweeps thead th')].map((one) => one.textContent)"
    )
    assert heads == ["run", "state", *sweep["parameters"], *sweep["metrics"], "ran", "cost"]
    table = looked.table("#sweeps table")
    told = {(row[2], row[3]): row[4] for row in table}
    for key, column in (("lr", 0), ("hidden", 1)):
        drawn = looked.rows(f"[data-chart=scatter][data-params*='\"{key}\"']", "symbol")
        assert sorted((str(row["text"]), f"{row['metric']:.4g}") for row in drawn) == sorted(
            (parameters[column], metric) for parameters, metric in told.items() if metric != "–"
        )
    assert [row[0].startswith("★") for row in table] == [True] + [False] * (len(table) - 1)
    ends = {str(row["run"]): float(str(row["value"])) for row in looked.rows("[data-chart=curves]", "line")}
    assert len(ends) == sum(metric != "–" for metric in told.values())


def test_the_life_of_a_job_is_told_by_its_table_and_drawn_alike(looked: Looked) -> None:
    for life in shown()["lives"]:
        looked.show(life["id"])
        own = f"[data-life='{life['id']}']"
        looked.page.wait_for_function(
            "(own) => document.querySelector(`${own} [data-chart=use]`).dataset.drawn", arg=own
        )
        table = looked.table(f"{own} .columns > :first-child table")
        drawn = [str(row["what"]) for row in looked.rows(f"{own} [data-chart=life]", "rect")]
        assert sorted(drawn) == sorted(phase["what"] for phase in life["phases"])
        assert sorted(row[1] for row in table) == sorted(mark["what"] for mark in (*life["phases"], *life["marks"]))
        lines = {str(row["line"]) for row in looked.rows(f"{own} [data-chart=use]", "line")}
        assert lines == {used["who"] + used["what"] for used in life["use"]}
        text = looked.page.locator(f"{own} pre").text_content() or ""
        assert text.splitlines() == life["lines"]


def test_jobs_are_looked_for_by_keyboard(looked: Looked) -> None:
    page = looked.page
    page.locator("#find").focus()
    page.keyboard.type("spot")
    wanted = [job for job in the_past().jobs if job.capacity_type == "spot"]
    assert f"of {len(wanted)}" in (page.locator("#found").text_content() or "")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.closest('#rows') !== null")


def test_names_that_would_do_harm_do_nothing(looked: Looked) -> None:
    page = looked.page
    before = page.evaluate("() => document.scripts.length")
    looked.choose("days", "30")
    hostile = [job for job in shown()["jobs"]["rows"] if any(name[:20] in job for name in month.HOSTILE)]
    assert hostile
    for id_ in [row[0] for row in hostile][:10]:
        looked.show(id_)
        page.wait_for_function("() => !document.getElementById('one').hidden")
    for by in ("team", "template", "user"):
        looked.choose("by", by)
    hovered = hover_hostile(looked)
    assert any("<" in text for text in hovered)
    assert page.locator("img, iframe, object, embed, link").count() == 0
    assert page.evaluate("() => document.scripts.length") == before


def hover_hostile(looked: Looked) -> list[str]:
    """Show the tooltip of each hostile job, by the events that a mouse brings; return what stands there."""
    script = """() => {
        const found = [];
        for (const path of document.querySelectorAll('[data-chart=band] .mark-rect path')) {
            const datum = path.__data__?.datum;
            if (!datum?.user || !/[<{]/.test(datum.user)) continue;
            const box = path.getBoundingClientRect();
            const at = { bubbles: true, clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 };
            path.dispatchEvent(new MouseEvent('pointermove', at));
            path.dispatchEvent(new MouseEvent('mousemove', at));
            path.dispatchEvent(new MouseEvent('pointerover', at));
            path.dispatchEvent(new MouseEvent('mouseover', at));
            found.push(document.getElementById('vg-tooltip-element')?.textContent || '');
        }
        return found;
    }"""
    found: list[str] = looked.page.evaluate(script)
    return found


def test_those_who_use_no_mouse_or_screen_find_their_way(looked: Looked) -> None:
    assert hindrances(looked) == []


def test_a_phone_shows_it_without_going_sideways(looked: Looked) -> None:
    looked.turn(width=360)
    width = looked.page.evaluate("() => document.documentElement.scrollWidth")
    assert width == 360
    for box in looked.page.evaluate(
        "() => [...document.querySelectorAll('.chart svg')].map((one) => one.getBoundingClientRect().right)"
    ):
        assert box <= 360


def test_those_who_see_little_find_their_way_at_night(looked_at_night: Looked) -> None:
    """Dark differs from light in its colours alone."""
    assert hindrances(looked_at_night, "color-contrast") == []


def hindrances(looked: Looked, *rules: str) -> list[tuple[str, str]]:
    looked.page.evaluate("() => { for (const one of document.querySelectorAll('details')) one.open = true; }")
    looked.show(shown()["lives"][-1]["id"])
    looked.page.wait_for_function("() => document.querySelector('[data-life]:not([hidden]) [data-drawn]')")
    from axe_playwright_python.sync_playwright import Axe

    # Later bands and rows of a table differ from earlier ones in nothing.
    alike = {"exclude": [["#time article:nth-of-type(n + 3)"], ["tbody tr:nth-of-type(n + 5)"]]}
    options = {"runOnly": rules} if rules else None
    found = Axe().run(looked.page, context=alike, options=options).response["violations"]
    return [
        (violation["id"], violation["nodes"][0]["html"][:120])
        for violation in found
        if violation["impact"] in ("serious", "critical")
    ]
