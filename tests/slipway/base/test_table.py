"""A table is no wider than the terminal, and nothing of it is lost: names are to be copied."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from slipway.base.table import Table, fields, wrapped

JOBS = Table(
    ("JOB", "STATE", "USER", "ON", "CREATED", "WAIT", "RUN"),
    [
        ("gemma2-lora-9d7k2p3f", "succeeded", "ada", "flex-start", "21 h ago", "16 min", "3 h 12 min"),
        ("dask-digits-7k2p3f9a", "running", "continuous-integration", "cpu", "42 s ago", "2 s", "40 s"),
    ],
    right=("WAIT", "RUN"),
    wraps=("CREATED",),
)
TEMPLATES = Table(
    ("TEMPLATE", "CAPACITY TYPES", "PARAMETERS", "SUMMARY"),
    [
        ("dask-digits", "pool, spot", "workers, trees, seed", "Trains a forest on the digits with Dask"),
        ("gemma2-lora", "flex-start, (spot)", "model*, rank, epochs, rate", "Tunes Gemma 2 with LoRA on text"),
    ],
    wraps=("CAPACITY TYPES", "PARAMETERS", "SUMMARY"),
)


def shown(table: Table, room: int | None) -> str:
    return "\n".join(line.text for line in table.lines(room))


def test_where_there_is_too_little_each_row_is_a_block_under_its_name(snapshot: SnapshotAssertion) -> None:
    assert shown(JOBS, 60) == snapshot
    assert [line.text for line in JOBS.lines(60) if line.head] == [row[0] for row in JOBS.rows]


def test_an_empty_first_cell_is_that_of_the_row_above(snapshot: SnapshotAssertion) -> None:
    quota = Table(("r", "", "LIMIT"), [("spot", "GPUs", "8"), ("", "CPUs", "208")], names=2)
    assert shown(quota, None).splitlines()[2].split() == ["CPUs", "208"]
    assert shown(replace(quota, title=True), 9) == snapshot


def test_a_fact_that_is_too_long_goes_on_below_its_beginning() -> None:
    facts = [("job", "lora"), ("parameters", "trees=500, seed=3"), ("output", "gs://work/jobs/lora-7k2p3f9a")]
    assert fields(facts, None)[1] == "parameters trees=500, seed=3"
    assert fields(facts, 24) == [
        "job        lora",
        "parameters trees=500,",
        "           seed=3",
        "output",
        "gs://work/jobs/lora-7k2p3f9a",
    ]


WORDS = st.lists(st.text(st.sampled_from("aé字🚀-/"), min_size=1, max_size=30), max_size=12).map(" ".join)
WRAPS = st.sets(st.sampled_from("ABCD")).map(tuple)


@given(
    st.lists(st.tuples(WORDS.filter(bool), WORDS, WORDS, WORDS), min_size=1, max_size=4), WRAPS, st.integers(10, 130)
)
def test_no_line_is_wider_and_no_word_is_broken_or_lost(
    rows: list[tuple[str, ...]], wraps: tuple[str, ...], room: int
) -> None:
    lines = Table(("A", "B", "C", "D"), rows, right=("C",), wraps=wraps).lines(room)
    names = {row[0] for row in rows}
    for line in lines:
        assert cell_len(line.text) <= room or " " not in line.text.strip() or line.text in names
    assert {word for row in rows for cell in row for word in cell.split()} <= {
        word for line in lines for word in line.text.split()
    }
    assert all(cell_len(line) <= room or " " not in line for line in wrapped(rows[0][0], room))


RESULTS = Table(
    ("", "JOB", "lr", "ACCURACY ↓", "RUN TIME"),
    [
        ("★", "mlp-k24lp", "0.01", "0.981", "4 min 10 s"),
        (" ", "mlp-w71qd", "0.1", "failed: out of memory (chief) · slipway jobs show mlp-w71qd"),
    ],
    right=("lr", "ACCURACY ↓", "RUN TIME"),
    names=2,
)


def test_a_short_row_ends_with_a_text_that_runs_on_across_what_it_lacks(snapshot: SnapshotAssertion) -> None:
    assert [shown(RESULTS, room) for room in (None, 60, 30)] == snapshot
