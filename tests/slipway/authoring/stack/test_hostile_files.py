"""Files that nobody writes on purpose, or only to do harm: each is a finding with its line, none a traceback."""

from pathlib import Path

import pytest

from slipway.authoring.stack.yaml_file import StackErrors, from_text, load

from .files import HEAD, only, read, with_config, with_pool, wrong

POOL = "slipway:persistentResources.cpu.pools.workers"


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("!!int abc", "looks like int"),
        ("!!float abc", "looks like float"),
        ("!!bool perhaps", "looks like bool"),
        ("!!timestamp someday", "no such day"),
        ("!!int ''", "looks like int"),
        ("2026-11-31", "no such day"),
        ("9" * 5000, "looks like int"),
        ("9" * 4000, "a number of 4000 digits"),
        ("0x" + "f" * 5000, "a number of 5002 digits"),
        ("-9223372036854775809", "a number of 20 digits"),
    ],
)
def test_a_value_that_yaml_can_not_read_is_named_with_its_key(value: str, what: str) -> None:  # D1
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
    halves = [(one.line, one.key, one.what) for one in found if "half of a character" in one.what]
    assert halves == [
        (6, "slipway:reservations.h.x?", "the escape \\ud800 is half of a character"),
        (6, "slipway:reservations.h.path", "the escape \\udfff is half of a character"),
    ]
    assert (7, "slipway:quota.mode") in {(one.line, one.key) for one in found}
    assert "GOCSPX" not in str(found) and all(one.fix for one in found)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('gcp:project: "acme-ml-prod\\n"', "gcp:project"),
        ('slipway:persistentResources: {"cpu\\n": {pools: {w: {machine: n1-standard-8, replicas: 1}}}}', "cpu"),
        ('slipway:persistentResources: {cpu: {pools: {"w\\n": {machine: n1-standard-8, replicas: 1}}}}', "w"),
        ('slipway:templates: ["nap\\n"]', "slipway:templates[0]"),
        ('slipway:quota: {contactEmail: "ada@acme.example\\n"}', "slipway:quota.contactEmail"),
        ('slipway:workspace: {submitters: ["user:ada@acme.example\\n"]}', "slipway:workspace.submitters[0]"),
        ('slipway:workspace: {catalogBucket: "acme-catalog\\n"}', "slipway:workspace.catalogBucket"),
        ('slipway:workspace: {trainer: "slipway-trainer\\n"}', "slipway:workspace.trainer"),
    ],
)
def test_a_name_that_ends_with_a_line_is_no_name(text: str, key: str) -> None:  # D1
    key_of = text.partition(": ")[0]
    head = "".join(line for line in HEAD.splitlines(keepends=True) if not line.strip().startswith(key_of))
    findings = wrong(with_config(text, head))
    assert any(finding.key.strip().endswith(key) for finding in findings), findings


@pytest.mark.parametrize("within", ["99999999999999999999d", "10000w", "1٣d"])
def test_a_time_to_retire_within_has_a_bound(within: str) -> None:  # D1
    finding = only(
        with_config(
            f"slipway:persistentResources: {{cpu: {{retireWithin: {within}, "
            "pools: {w: {machine: n1-standard-8, replicas: 1}}}}"
        )
    )
    assert finding.key == "slipway:persistentResources.cpu.retireWithin"


@pytest.mark.parametrize("size", ["1000001", "9223372036854775807"])
@pytest.mark.parametrize(
    ("replicas", "key"), [("{}", "replicas"), ("{{min: 1, max: {}}}", "replicas.max")], ids=["fixed", "max"]
)
def test_a_pool_has_a_largest_size(replicas: str, key: str, size: str) -> None:  # D1
    finding = only(with_pool(f"machine: n1-standard-8\nreplicas: {replicas.format(size)}"))
    assert (finding.line, finding.key) == (10, f"{POOL}.{key}")
    assert "1 to 1,000,000" in finding.fix
    assert len(finding.what) < 200


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("config:\n\tgcp:project: x\n", 2, "cannot start any token"),
        ("config: {a: 1\n", 2, "not YAML"),
        ("config: *nobody\n", 1, "undefined alias"),
        ("config: &a {b: *a}\n", 1, "contains itself"),
        ("a: 1\n---\nb: 2\n", 2, "not YAML"),
        ("config: !!python/object:os.system {}\n", 1, "not YAML"),
        ("? [a]\n: b\n", 1, "not a word"),
    ],
)
def test_what_is_not_yaml(text: str, line: int, what: str) -> None:
    finding = wrong(text)[0]
    assert finding.line == line and what in finding.what and finding.fix


def test_aliases_that_expand_without_end_are_refused() -> None:
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for depth in range(1, 9):
        text += f"a{depth}: &a{depth} [{', '.join([f'*a{depth - 1}'] * 10)}]\n"
    assert "aliases expand" in wrong(text)[0].what


def test_merges_that_expand_without_end_are_refused() -> None:  # D1
    text = f"a0: &a0 {{{', '.join(f'k{key}: x' for key in range(10))}}}\n"
    for depth in range(1, 9):
        text += f"a{depth}: &a{depth} {{<<: [{', '.join([f'*a{depth - 1}'] * 10)}]}}\n"
    assert "merges (<<) expand" in wrong(text)[0].what


def test_of_what_is_merged_the_mappings_own_counts() -> None:
    document = from_text("a: &a {x: 1, y: 1}\nb: &b {<<: *a, y: 2}\nc: {z: 3, <<: [*b, *a]}\n", "Pulumi.dev.yaml")
    assert document.values["b"] == {"x": 1, "y": 2} and document.values["c"] == {"x": 1, "y": 2, "z": 3}
    assert not document.mistakes and document.line(("c", "z")) == 3


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


@pytest.mark.parametrize("text", ["", "null\n", "[]\n", "text\n"])
def test_a_file_that_holds_no_mapping(text: str) -> None:
    assert wrong(text)


@pytest.mark.parametrize(
    "line",
    [
        "gcp:region: {}",
        "slipway:workspace: {{catalogBucket: {}}}",
        "slipway:workspace: {{trainer: {}}}",
        "slipway:workspace: {{submitters: [{}]}}",
        "slipway:persistentResources: {{cpu: {{pools: {{w: {{machine: {}, replicas: 1}}}}}}}}",
        "slipway:persistentResources: {{{}: {{}}}}",
        "slipway:{}: 1",
    ],
)
@pytest.mark.parametrize("value", ["x" * 5000, "9" * 5000])
def test_no_value_is_repeated_without_end(line: str, value: str) -> None:
    text = (HEAD.replace("  gcp:region: us-central1\n", "") if "region" in line else HEAD) + f"  {line.format(value)}\n"
    with pytest.raises(StackErrors) as error:
        read(text)
    assert all(len(said) < 500 for said in str(error.value).splitlines())
