"""docs/your-program.md: its programs declare what the page says, and its tests pass, under mocks. # D1 # D2 # D3"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pulumi
import pytest

import components
from components import program, testing
from tests.components.conftest import PROJECT, REGION, Asked, declared, executed, unique

pytestmark = pytest.mark.journey

DOCS = Path(__file__).parents[2] / "docs"
PROGRAM, READS, REGIONS, TESTS = re.findall(
    r"```python\n(.*?)```", (DOCS / "your-program.md").read_text("utf-8"), re.DOTALL
)
TEMPLATE, TASK = re.findall(r"```python\n(.*?)```", (DOCS / "write-a-template.md").read_text("utf-8"), re.DOTALL)[:2]


def lay_out(folder: Path) -> None:
    """Write the template of the page that tells how."""
    code = folder / "jobs" / "count_words"
    code.mkdir(parents=True)
    (code / "__init__.py").touch()
    (code / "task.py").write_text(TASK)
    (folder / "templates").mkdir(exist_ok=True)
    (folder / "templates" / "count_words.py").write_text(TEMPLATE)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (components, program, testing):  # by their names in a wheel
        monkeypatch.setitem(sys.modules, f"slipway.{module.__name__}", module)
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path)
    pulumi.runtime.set_all_config({"gcp:project": PROJECT, "gcp:region": REGION})


def made(asked: list[Asked]) -> Counter[str]:
    return Counter(each.type.rpartition(":")[2] for each in asked)


def test_a_program_with_its_own_network_bucket_and_account_is_given_the_rest() -> None:
    asked = declared(lambda: exec(PROGRAM, {}))
    count = made(asked)
    assert (count["AiPersistentResource"], count["Account"], count["Network"]) == (2, 1, 1)
    buckets = {each.inputs["name"]: each for each in asked if each.type.endswith(":Bucket")}
    assert sorted(buckets) == [f"{PROJECT}-slipway--dev--ml-catalog", "acme-ml-results"]
    assert not buckets["acme-ml-results"].parent.startswith("ml")
    clusters = [each for each in asked if each.type.endswith("AiPersistentResource")]
    assert {each.inputs["network"] for each in clusters} == {"projects/123456789012/global/networks/training-id"}


def test_a_program_creates_a_cluster_for_each_item_of_another_stacks_output() -> None:
    asked = executed(lambda: exec(READS, {}))
    clusters = [each.name for each in asked if each.type.endswith("AiPersistentResource")]
    assert sorted(name.rpartition("-")[0] for name in clusters) == ["speech", "vision"]


def test_two_regions_are_two_workspaces_each_with_its_catalog() -> None:
    asked = declared(lambda: exec(REGIONS, {}))
    unique(asked)
    places = {each.inputs["location"] for each in asked if each.type.endswith("AiPersistentResource")}
    assert places == {"us-central1", "europe-west4"}
    catalogs = [each.inputs["bucket"] for each in asked if each.inputs.get("name") == "catalog.json"]
    assert sorted(catalogs) == [f"{PROJECT}-slipway--dev--eu-catalog", f"{PROJECT}-slipway--dev--us-catalog"]
    buckets = {each.inputs["name"] for each in asked if each.type.endswith(":Bucket")}
    assert buckets == {f"{PROJECT}-slipway--dev--{name}-{use}" for name in ("us", "eu") for use in ("catalog", "work")}


def test_a_stack_file_s_program_uses_a_bucket_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (text,) = re.findall(r"```python\n([^`]*with_our_bucket[^`]*)```", (DOCS / "adoption.md").read_text("utf-8"))
    monkeypatch.setattr("gc.set_threshold", lambda _: None)
    monkeypatch.setattr("atexit.register", lambda _: None)
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text(
        f'config: {{"gcp:project": {PROJECT}, "gcp:region": {REGION}, "gcp:addPulumiAttributionLabel": "false"}}'
    )
    asked = declared(lambda: exec(text, {"__file__": str(tmp_path / "__main__.py")}))
    buckets = {each.inputs["name"]: each.parent for each in asked if each.type.endswith(":Bucket")}
    assert buckets == {"acme-ml-results": "slipway-dev", f"{PROJECT}-slipway--dev-catalog": "workspace"}


WRONG = (
    "components.PoolArgs(machine=8, replicas=1)",
    'components.PoolArgs(machine="n1-standard-4")',
    'components.PersistentResourceArgs(pools={}, labls={"team": "ml"})',
    "components.QuotaCheckArgs(mode=1)",
    "components.WorkspaceArgs(work_bucket=5)",
    'most: int = components.PersistentResource("cpu", components.PersistentResourceArgs(pools={})).cluster_id',
)


def test_its_programs_pass_a_strict_check_of_types(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("own.py", "reads.py", "regions.py")]
    for file, text in zip(files, (PROGRAM, READS, REGIONS), strict=True):
        file.write_text(text.replace("slipway.components", "components"))
    (tmp_path / "wrong.py").write_text("import components\n" + "".join(f"{line}\n" for line in WRONG))
    # The check of all types may run beside it, and write the checkout's cache.
    mypy = [sys.executable, "-m", "mypy", "--no-error-summary", f"--cache-dir={tmp_path / 'cache'}"]
    check = [*mypy, *map(str, files), str(tmp_path / "wrong.py")]
    said = subprocess.run(check, cwd=DOCS.parent, capture_output=True, text=True, check=False).stdout
    assert 'wrong.py:2: error: Argument "machine" to "PoolArgs"' in said, said
    assert [int(number) for number in re.findall(r"wrong\.py:(\d+): error", said)] == [*range(2, 2 + len(WRONG))], said
    assert said.count("error") == len(WRONG), said


def test_its_tests_pass(tmp_path: Path) -> None:
    file = tmp_path / "test_of_the_page.py"
    file.write_text(TESTS)
    result = pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={tmp_path}", str(file)])
    assert result == pytest.ExitCode.OK
