"""The local cloud's folders: a stranger finds a method by its name. (local/cloud/README.md)"""

import ast
import re
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

from local.cloud.router import Router
from local.cloud.server.main import SERVICES, load_services
from local.cloud.world import open_world
from tests.local.cloud.methods import examples
from tests.local.conftest import ROOT

CLOUD = ROOT / "local" / "cloud"
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
}
# A method alone in its collection, or that makes a resource of another one, stands with what it is about.
BESIDE = {
    "storage.projects.serviceAccount.get": "buckets",
    "storage.managedFolders.list": "object_listing",
    "logging.projects.logs.list": "entries",
    "secretmanager.projects.secrets.addVersion": "versions",
}
# What all services do alike, or none does yet.
SHARED = ("local.cloud.locations", "local.cloud.policy_methods", "local.cloud.vertex.pipelines.unserved")


def test_every_service_has_its_files() -> None:
    assert set(APIS) == set(SERVICES)
    for module in load_services():
        assert module.__name__.endswith(".routes")
        assert module.API.endswith(".googleapis.com") and callable(module.routes)


@pytest.fixture(scope="module")
def methods(tmp_path_factory: pytest.TempPathFactory) -> Mapping[tuple[str, str], str]:
    """(service, method's id) to the module that serves it."""
    world = open_world(tmp_path_factory.mktemp("world"))
    found = {}
    for name, module in zip(SERVICES, load_services(), strict=True):
        router = Router(module.routes(world))
        for api in APIS[name]:
            for method_id, verb, path in examples(api):
                hit = router.find(verb, path.replace("/x/x/services", "/projects/x/services"))
                if hit:
                    found[name, method_id] = home(hit[0])
    return found


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
        assert module.startswith(f"local.cloud.{service}."), method_id
        fits = stem in (collection, BESIDE.get(method_id)) or stem.startswith(f"{collection.removesuffix('s')}_")
        assert fits, f"{method_id} stands in {module}"


def imports() -> Iterator[tuple[str, set[str]]]:
    """The modules of the local cloud, and those that each imports."""
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (ROOT / "local").rglob("*.py")
    }
    for name, path in modules.items():
        found = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                whole = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= {item if item in modules else node.module for item in whole}
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
        if name.startswith("local.cloud"):
            yield name, found


def test_no_imports_go_in_circles() -> None:
    TopologicalSorter(dict(imports())).prepare()


def test_nothing_is_imported_of_what_the_cloud_is_to_check() -> None:
    for name, found in imports():
        assert not {item.partition(".")[0] for item in found} & {"slipway", "components"}, name


def test_rules_and_lives_are_pure() -> None:
    for name, found in imports():
        if name.rpartition(".")[2] in ("rules", "life"):
            assert not found & {"local.cloud.world", "local.cloud.store"}, name


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
