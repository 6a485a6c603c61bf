"""Faults of edited code that hold whatever it does otherwise. # N5"""

import pytest

from slipway.reviewing.change.faults import faults

PRINTS = "print os.environ"


@pytest.mark.parametrize(
    "line",
    [
        "print(os.environ)",
        "print(dict(os.environ))",
        "log.info(f'started with {os.environ}')",
        "print(json.dumps({**os.environ}))",
        "print({key: value for key, value in os.environ.items()})",
        "for key, value in sorted(os.environ.items()): print(key, value)",
        "for item in os.environ.items(): print(f'{item}')",
        "for value in os.environ.values(): sys.stdout.write(value)",
    ],
)
def test_all_variables_are_printed_with_their_values(line: str) -> None:
    assert list(faults("", line)) == [PRINTS]
    assert not list(faults(line, f"{line}\n\nDONE = True\n")), "it did so before"


@pytest.mark.parametrize(
    "line",
    [
        "print(sorted(os.environ))",
        "print(len(os.environ))",
        "print(os.environ['RANK'])",
        "for key in os.environ: print(key)",
        "for key, value in os.environ.items(): print(key)",
        "for key, value in os.environ.items():\n    if key.startswith('NCCL_'): print(key, value)",
        "print({key: value for key, value in os.environ.items() if key.startswith('NCCL_')})",
        "env = dict(os.environ)",
    ],
)
def test_names_and_chosen_variables_are_no_fault(line: str) -> None:
    assert not list(faults("", line))


@pytest.mark.parametrize(
    "lines",
    [
        "open(args.output + '/loss.txt', 'w')",
        "torch.save(state, os.path.join(args.output, 'model.pt'))",
        "out = Path(args.output)",
        "out = args.output\nos.makedirs(out)",
    ],
)
def test_an_argument_that_is_opened_as_it_is_given(lines: str) -> None:
    assert list(faults("", lines)) == ["open --output"]


@pytest.mark.parametrize(
    "lines",
    [
        "out = Path(args.output.replace('gs://', '/gcs/', 1))",
        "out = args.output.removeprefix('gs://')\nopen('/gcs/' + out)",
        "from smart_open import open as open\nopen(args.output)",
        "print(args.output)",
        "fs.open(args.output)",
    ],
)
def test_a_translated_argument_or_another_open_is_no_fault(lines: str) -> None:
    assert not list(faults("", lines))


@pytest.mark.parametrize(
    ("before", "after", "sought"),
    [
        (
            "if (out / 'state.json').exists(): load(out / 'state.json')\n(out / 'state.json').write_text('')",
            "if (out / 'state.json').exists(): load(out / 'state.json')\n(out / f'state-{step}.json').write_text('')",
            ["seek state.json"],
        ),
        (
            "for path in out.glob('step-*.pt'): load(path)\ntorch.save(state, f'{out}/step-{step}.pt')",
            "for path in out.glob('step-*.pt'): load(path)\ntorch.save(state, f'{out}/step-{step:06d}.pt')",
            [],
        ),
        (
            "saved = out + '/a.pt'\nif os.path.exists(saved): torch.load(saved)\ntorch.save(state, saved)",
            "saved = out + '/b.pt'\nif os.path.exists(saved): torch.load(saved)\ntorch.save(state, saved)",
            [],
        ),
        (
            "with open('log.txt', 'w') as file: file.write('')\nopen('log.txt').read()",
            "with open('log.jsonl', 'w') as file: file.write('')\nopen('log.txt').read()",
            ["seek log.txt"],
        ),
        ("load('weights.bin')", "load('weights.bin')\nsave('other.bin')", []),
    ],
)
def test_a_file_that_is_looked_for_and_written_no_more(before: str, after: str, sought: list[str]) -> None:
    assert list(faults(before, after)) == sought


def test_code_that_is_no_python_has_none() -> None:
    assert not list(faults("", "def ("))
