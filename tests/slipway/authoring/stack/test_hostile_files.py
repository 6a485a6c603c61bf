"""Files that nobody writes on purpose, or only to do harm: each is a finding with its line, none a traceback."""

from pathlib import Path

import pytest

from slipway.authoring.stack.yaml_file import StackErrors, from_text, load

from .files import HEAD, only, read, with_pool, wrong

POOL = "slipway:persistentResources.cpu.pools.workers"


@pytest.mark.parametrize(
    ("value", "what"),
    [("9" * 5000, "looks like int"), ("9" * 4000, "a number of 4000 digits"), ("0x" + "f" * 5000, "a number of 5002")],
)
def test_a_number_without_end_is_named_with_its_key(value: str, what: str) -> None:  # D1
    finding = only(with_pool(f"machine: n1-standard-8\nreplicas: {value}"))
    assert (finding.line, finding.key) == (10, f"{POOL}.replicas")
    assert what in finding.what and value not in str(finding)


def test_aliases_in_a_key_are_not_written_out() -> None:  # D1
    nested = "[x]"
    for name in "abcdefghi":
        nested = f"[&{name} {nested}, {', '.join([f'*{name}'] * 9)}]"
    finding = only(HEAD + f"  ? {nested}\n  : 1\n")
    assert finding.line == 5 and finding.what.startswith("not YAML: a key")


@pytest.mark.parametrize("control", ["\0", "\x07", "\x1b", "\ufffe"])
def test_control_characters_are_named_with_their_line(control: str) -> None:  # D1
    finding = only(HEAD + f"  slipway:templates: [dask{control}digits]\n")
    assert finding.line == 5
    assert "special characters" in finding.what and control not in str(finding)


def test_half_of_a_character_is_named_beside_other_mistakes_and_its_text_is_not() -> None:  # D1
    """YAML can spell it as an escape, and nothing can write it: it ended the command. The engine refuses it too."""
    reservation = '{ "x\\uD800": 1, path: "GOCSPX-\\uDFFFabc", machine: a3-highgpu-8g }'
    found = wrong(f"{HEAD}  slipway:reservations:\n    h: {reservation}\n  slipway:quota: {{ mode: nope }}\n")
    halves = [(mistake.line, mistake.key, mistake.what) for mistake in found if "half of a character" in mistake.what]
    assert halves == [
        (6, "slipway:reservations.h.x?", "the escape \\ud800 is half of a character"),
        (6, "slipway:reservations.h.path", "the escape \\udfff is half of a character"),
    ]
    assert (7, "slipway:quota.mode") in {(mistake.line, mistake.key) for mistake in found}
    assert "GOCSPX" not in str(found) and all(mistake.fix for mistake in found)


def test_aliases_and_merges_that_expand_without_end_are_refused() -> None:  # D1
    aliases, merges = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n", "a0: &a0 {k0: x, k1: x, k2: x, k3: x, k4: x}\n"
    for depth in range(1, 9):
        below = ", ".join([f"*a{depth - 1}"] * 10)
        aliases += f"a{depth}: &a{depth} [{below}]\n"
        merges += f"a{depth}: &a{depth} {{<<: [{below}]}}\n"
    assert "aliases expand" in wrong(aliases)[0].what and "merges (<<) expand" in wrong(merges)[0].what


def test_of_what_is_merged_the_mappings_own_counts() -> None:
    document = from_text("a: &a {x: 1, y: 1}\nb: &b {<<: *a, y: 2}\nc: {z: 3, <<: [*b, *a]}\n", "Pulumi.dev.yaml")
    assert document.values["b"] == {"x": 1, "y": 2} and document.values["c"] == {"x": 1, "y": 2, "z": 3}
    assert not document.mistakes and document.line(("c", "z")) == 3


def test_a_merged_mapping_with_a_key_of_its_own_can_be_used_again() -> None:
    text = "small: &small {type: a, size: 1}\nlarge: &large {<<: *small, size: 2}\nalso: *large\n"
    document = from_text(text, "stacks/Pulumi.dev.yaml")
    assert document.mistakes == () and document.values["also"] == {"type": "a", "size": 2}


def test_a_byte_that_is_no_text_is_named_with_its_line(tmp_path: Path) -> None:  # D1
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_bytes(HEAD.encode() + b"  slipway:templates: [d\xe9j\xe0]\n")
    (finding,) = load(file).mistakes
    assert finding.line == 5 and "the byte 0xe9" in finding.what


def test_very_many_findings_are_counted() -> None:
    keys = "".join(f"  slipway:unknown{number}: 1\n" for number in range(500))
    with pytest.raises(StackErrors) as error:
        read(HEAD + keys)
    said = str(error.value).splitlines()
    assert len(error.value.mistakes) == 500 and len(said) == 1 + 2 * 50 + 1
    assert said[0].startswith("500 errors") and said[-1] == "and 450 more"


@pytest.mark.parametrize("value", ["x" * 5000, "9" * 5000])
@pytest.mark.parametrize(
    "line",
    [
        "slipway:workspace: {{catalogBucket: {}}}",
        "slipway:workspace: {{submitters: [{}]}}",
        "slipway:persistentResources: {{cpu: {{pools: {{w: {{machine: {}, replicas: 1}}}}}}}}",
        "slipway:persistentResources: {{{}: {{}}}}",
        "slipway:{}: 1",
    ],
)
def test_no_value_is_repeated_without_end(line: str, value: str) -> None:
    with pytest.raises(StackErrors) as error:
        read(f"{HEAD}  {line.format(value)}\n")
    assert all(len(said) < 500 for said in str(error.value).splitlines())
