"""The folders: a stranger finds a method by its name. (CONTRIBUTING.md)"""

import ast
import re
import sys
import tomllib
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.methods import examples
from vertex_local.router import Router
from vertex_local.server.main import SERVICES, load_services
from vertex_local.world import open_world

CLOUD = ROOT / "vertex_local"
APIS = {
    "storage": ("storage.v1",),
    "iam": ("iam.v1", "iamcredentials.v1"),
    "resourcemanager": ("cloudresourcemanager.v1", "cloudresourcemanager.v3"),
    "logging": ("logging.v2",),
    "serviceusage": ("serviceusage.v1",),
    "vertex": ("aiplatform.v1", "aiplatform.v1beta1"),
    "quotas": ("cloudquotas.v1", "cloudquotas.v1beta"),
    "secretmanager": ("secretmanager.v1",),
    "monitoring": ("monitoring.v3",),
    "orgpolicy": ("orgpolicy.v2",),
    "compute": ("compute.v1",),
}
# A method alone in its collection, or that makes a resource of another one, stands with what it is about.
BESIDE = {
    "storage.anywhereCaches.list": "buckets",
    "storage.projects.serviceAccount.get": "buckets",
    "storage.managedFolders.list": "object_listing",
    "iam.projects.serviceAccounts.keys.create": "service_accounts",
    "logging.projects.logs.list": "entries",
    "secretmanager.projects.secrets.addVersion": "versions",
}
# What all services do alike.
SHARED = ("vertex_local.locations", "vertex_local.policy_methods")


def test_every_service_has_its_files() -> None:
    assert set(APIS) == set(SERVICES)
    for module in load_services():
        assert module.__name__.endswith(".routes")
        assert module.API.endswith(".googleapis.com") and callable(module.routes)


@pytest.fixture(scope="module")
def methods(tmp_path_factory: pytest.TempPathFactory) -> Mapping[tuple[str, str], str]:
    """(service, method's id) to the module that serves it."""
    world = open_world(tmp_path_factory.mktemp("world"))
    imported = {}
    for name, module in zip(SERVICES, load_services(), strict=True):
        router = Router(module.routes(world))
        for api in APIS[name]:
            for method_id, verb, path in examples(api):
                hit = router.find(verb, path.replace("/x/x/services", "/projects/x/services"))
                if hit:
                    imported[name, method_id] = home(hit[0])
    return imported


def home(handler: Any) -> str:
    owner = getattr(handler, "__self__", None)
    return str(type(owner).__module__ if owner is not None else handler.__module__)


def test_a_method_stands_in_the_file_of_its_collection(methods: Mapping[tuple[str, str], str]) -> None:
    assert len(methods) > 150
    for (service, method_id), module in methods.items():
        if module in SHARED:
            continue
        collection = re.sub(r"(?<!^)([A-Z])", r"_\1", method_id.split(".")[-2]).lower()
        stem = module.rpartition(".")[2]
        assert module.startswith(f"vertex_local.{service}."), method_id
        fits = stem in (collection, BESIDE.get(method_id)) or stem.startswith(f"{collection.removesuffix('s')}_")
        assert fits, f"{method_id} stands in {module}"


@cache
def imports() -> Mapping[str, frozenset[str]]:
    """Each module to what it imports: modules of the package, and names of others."""
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in CLOUD.rglob("*.py")
    }
    return {name: frozenset(_imported(name, path, modules.keys())) for name, path in modules.items()}


def _imported(name: str, path: Path, modules: Collection[str]) -> Iterator[str]:
    folder = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else []
            start = ".".join([*base, *filter(None, [node.module])])
            whole = {f"{start}.{alias.name}" for alias in node.names}
            yield from (item if item in modules else start for item in whole)


def test_no_imports_go_in_circles() -> None:
    TopologicalSorter({name: imported - {name} for name, imported in imports().items()}).prepare()


def test_what_lies_side_by_side_in_a_folder_is_not_imported_in_a_circle() -> None:
    """Files and subfolders of one folder, each subfolder as a whole."""
    graphs: dict[str, dict[str, set[str]]] = {}
    for name, imported in imports().items():
        for other in imported & imports().keys():
            parts, others = name.split("."), other.split(".")
            shared = next((at for at, pair in enumerate(zip(parts, others, strict=False)) if pair[0] != pair[1]), None)
            if shared is not None:
                graph = graphs.setdefault(".".join(parts[:shared]), {})
                graph.setdefault(parts[shared], set()).add(others[shared])
    assert graphs.keys() >= {"vertex_local", "vertex_local.vertex"}
    for graph in graphs.values():
        TopologicalSorter(graph).prepare()


def test_nothing_is_imported_but_what_is_declared() -> None:
    """Nothing of what is tried on it either: a mistake that both shared would hide itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {re.split(r"[^\w-]", dependency)[0] for dependency in project["dependencies"]}
    known = {module for module, names in packages_distributions().items() if declared & set(names)}
    others = {item.partition(".")[0] for imported in imports().values() for item in imported}
    assert others - sys.stdlib_module_names - {"vertex_local"} <= known


def test_no_program_that_is_tried_on_it_is_named_in_it() -> None:
    for path in (
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *CLOUD.rglob("*.py"),
        *(ROOT / "tests").rglob("*.py"),
    ):
        assert (
            not re.search("slip" + "way", path.read_text("utf-8"), re.IGNORECASE) or path.name == "test_honesty.py"
        ), path


def test_rules_and_lives_are_pure() -> None:
    looked = {name: imported for name, imported in imports().items() if name.rpartition(".")[2] in ("rules", "life")}
    assert looked
    for name, imported in looked.items():
        assert not imported & {"vertex_local.world", "vertex_local.store"}, name


def test_each_folder_says_what_it_is_and_holds_no_code_there() -> None:
    for path in CLOUD.rglob("__init__.py"):
        body = ast.parse(path.read_text("utf-8")).body
        assert body and isinstance(body[0], ast.Expr), path
        assert len(body) == 1 or path.parent.name == "images", path


def test_no_two_files_of_a_folder_differ_by_an_ending_only() -> None:
    for folder in {path.parent for path in CLOUD.rglob("*.py")}:
        stems = [Path(name).stem for name in sorted(item.name for item in folder.iterdir() if item.suffix == ".py")]
        folders = [item.name for item in folder.iterdir() if item.is_dir() and (item / "__init__.py").exists()]
        plain = [re.sub(r"(ies|y|s|ing)$", "", name) for name in (*stems, *folders)]
        assert len(plain) == len(set(plain)), (folder, sorted(plain))
