"""What a command needs and its machines lack is reported before anything is sent."""

import shlex
from pathlib import Path

import pytest

from slipway.authoring.packages.command_check import (
    Machine,
    hidden,
    lacking,
    replaced,
    require_joined,
    require_no_runner,
)
from slipway.authoring.packages.command_script import script_of
from slipway.authoring.packages.folder_packages import FolderPackages, packages_of
from slipway.authoring.packages.installed_modules import InstalledModules
from slipway.authoring.packages.own_modules import mistyped, require_own_modules
from slipway.base.errors import ConfigError

CPU = Machine("sklearn-cpu.1-6", "scikit-learn", has_gpu=False, python="3.10")
GPU = Machine("pytorch-gpu.2-4.py310", "torch", has_gpu=True, words="--machine g2-standard-12")
LOCKED = """
[[package]]
name = "x"
source = { virtual = "." }
[package.metadata]
requires-dist = [{ name = "lightning" }]
[[package]]
name = "lightning"
version = "2"
source = { registry = "https://pypi.org/simple" }
"""
HEADER = '# /// script\n# dependencies = ["six"]\n# ///\nimport cv2, torch\n'
NONE = ": imported, in no list of packages, and image sklearn-cpu.1-6 is not known to have {}: list {}"
OR = ", or --machine g2-standard-12"
NO_PROGRAM = "image sklearn-cpu.1-6 has no such program"
BEFORE = ", as the folder's packages are installed before it starts"
UV = ": imported, in no list of packages, and image sklearn-cpu.1-6 is not known to have them: {}"
UNLISTED = ": imported, in no list of packages, and image sklearn-cpu.1-6 is not known to have it: "
TORCH = "! torch (by train.py)" + NONE.format("it", f"torch in requirements.txt{OR}")
PROJECT = '[project]\nname = "x"\ndependencies = ["six"]\n'
EXTRA = '[project.optional-dependencies]\ntorch = ["torch>=2"]\n'
SIX, OF_INDEX = '[[package]]\nname = "six"\n', 'version = "2"\nsource = { registry = "https://pypi.org/simple" }\n'
SIX_AND_TORCH = f'{SIX}{OF_INDEX}[[package]]\nname = "torch"\n{OF_INDEX}'
NEEDS_TORCH = f'{SIX}{OF_INDEX}dependencies = [{{ name = "torch" }}]\n[[package]]\nname = "torch"\n{OF_INDEX}'
ONLY = "! torch (by train.py) is only in {}, which is not installed: {}" + OR
POETRY = '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\nsix = "*"\n'
POETRY_LOCK = f'{SIX}version = "1"\n[[package]]\nname = "torch"\nversion = "2"\n'
IN_PROJECT = "list torch in project.dependencies of pyproject.toml"
LOCK_ALONE = "! torch (by train.py) is only in `{}`, as no dependency requires it, and not installed: {} add torch" + OR
POETRY_NEEDS = f"{SIX}version = '1'\ndependencies.torch = '*'\n[[package]]\nname = 'torch'\nversion = '2'\n"
POETRY_GROUP = POETRY + '[tool.poetry.group.gpu.dependencies]\ntorch = "*"\n'
GROUP = PROJECT + '[dependency-groups]\ngpu = ["torch", {include-group = "x"}]\n'
OLD_GROUP = PROJECT + '[tool.uv]\ndev-dependencies = ["torch"]\n'
ANOTHER = f"! torch (by train.py){UNLISTED}{IN_PROJECT}{OR}"
NOT_INSTALLED = [
    (PROJECT + EXTRA, {"uv.lock": SIX_AND_TORCH}, ONLY.format("extra `torch`", "uv add torch")),
    (PROJECT + EXTRA, {}, ONLY.format("extra `torch`", IN_PROJECT)),
    ('[project]\nname = "x"\n' + EXTRA, {}, ONLY.format("extra `torch`", IN_PROJECT)),
    (GROUP, {"uv.lock": SIX_AND_TORCH}, ONLY.format("group `gpu`", "uv add torch")),
    (OLD_GROUP, {}, ONLY.format("group `dev`", "uv add torch")),
    (PROJECT, {"uv.lock": SIX_AND_TORCH}, LOCK_ALONE.format("uv.lock", "uv")),
    (PROJECT + EXTRA, {"uv.lock": NEEDS_TORCH}, ""),
    (POETRY_GROUP, {"poetry.lock": POETRY_LOCK}, ONLY.format("group `gpu`", "poetry add torch")),
    (POETRY + '[tool.poetry.extras]\nfast = ["torch"]\n', {}, ONLY.format("extra `fast`", "poetry add torch")),
    (POETRY, {"poetry.lock": POETRY_LOCK}, LOCK_ALONE.format("poetry.lock", "poetry")),
    (POETRY, {"poetry.lock": POETRY_NEEDS}, ""),
    (PROJECT.replace("six", "hydra-core"), {"uv.lock": ""}, ANOTHER.replace(IN_PROJECT, "uv add torch")),
    ("[tool.ruff]\n", {}, TORCH),
]


def lines(files: dict[str, str], command: str, here: Machine = CPU) -> list[str]:
    packed = {name: text.encode() for name, text in files.items()}
    return [*lacking(packed, command, packages_of(packed, "x", script_of(command)), here, [GPU])]


@pytest.mark.parametrize(
    ("files", "command", "said"),
    [
        *(
            ({"train.py": "import torch\n", "pyproject.toml": project, **locks}, "python train.py", said)
            for project, locks, said in NOT_INSTALLED
        ),
        ({"train.py": "import torch, os\n"}, "python train.py", TORCH),
        ({"train.py": "from torch import nn\n"}, "bash -c 'cd . && python train.py | tee log'", TORCH),
        ({"run.sh": "python train.py \\\n --x\n", "train.py": "import torch\n"}, "bash run.sh", TORCH),
        (
            {"jobs/a.py": "import lib.net\n", "lib/net.py": "from . import b\n", "lib/b.py": "import torch, cv2\n"},
            "python -m jobs.a",
            "! torch (by lib/b.py), cv2 (by lib/b.py)"
            + NONE.format("them", "torch and opencv-python-headless in requirements.txt"),
        ),
        (
            {"train.py": HEADER},
            "python train.py",
            "! torch (by train.py)" + NONE.format("it", f"torch in train.py{OR}"),
        ),
        (
            {"train.py": "import torch, wandb\n", "uv.lock": LOCKED},
            "python train.py",
            "! torch (by train.py), wandb (by train.py)" + UV.format("uv add torch wandb"),
        ),
        ({"train.py": "import torch\n", "requirements.txt": "lightning\n"}, "python train.py", ""),
        ({"train.py": "import torch\n", "requirements.txt": "torch==2.5\n"}, "python train.py", ""),
        ({"train.py": "import anything\n", "requirements.txt": "six\n"}, "python train.py", ""),
        ({"train.py": "import torch\n", "requirements.txt": "git+https://h/o/r\n"}, "python train.py", ""),
        ({"train.py": "import torch\n"}, "bash -c 'pip install torch && python train.py'", ""),
        ({"train.py": "try:\n    import torch\nexcept ImportError: ...\n"}, "python train.py", ""),
        ({"train.py": "import sklearn, numpy, distutils\n", "plot.py": "import seaborn\n"}, "python train.py", ""),
        ({"train.py": "import helpers\n", "deep/helpers.py": ""}, "python train.py", ""),
        ({"train.py": "import yaml, PIL\n", "requirements.txt": "pyyaml\nPillow\n"}, "python train.py", ""),
        ({"train.py": "import 1\n"}, "python train.py", ""),
        (
            {},
            "torchrun --nproc_per_node 1 train.py",
            f"! torchrun: {NO_PROGRAM}: list torch in requirements.txt{OR}",
        ),
        ({"requirements.txt": "lightning\n"}, "torchrun train.py", ""),
        ({}, "nvidia-smi", "! nvidia-smi: the machine has no GPU: --machine g2-standard-12"),
        (
            {"train.py": ""},
            "uv run train.py --lr 1",
            f"! uv: {NO_PROGRAM}: python train.py --lr 1, as the folder's packages are installed before it starts",
        ),
        ({"requirements.txt": "uv\n"}, "uv run train.py", ""),
        (
            {},
            "bash -c 'OMP_NUM_THREADS=1 exec accelerate launch train.py'",
            f"! accelerate: {NO_PROGRAM}: list accelerate in requirements.txt",
        ),
        ({}, "anything else", ""),
        ({}, "ipython train.py", f"! ipython: {NO_PROGRAM}: list ipython in requirements.txt"),
        ({}, "docker run x", f"! docker: {NO_PROGRAM}: run the command itself: the job is a container already"),
        (
            {},
            "srun python x.py",
            f"! srun: {NO_PROGRAM}: run the command itself, with --replicas N for several machines",
        ),
        ({}, "python3.12 -m x", "! python3.12: image sklearn-cpu.1-6 has Python 3.10: python"),
        ({}, "python3.10 -m x", ""),
        (
            {},
            "conda run -n ml python x.py",
            f"! conda run: no image has an environment of yours: python x.py{BEFORE}",
        ),
        ({}, "conda run python x.py --name a", ""),
        ({}, "python -c 'import torch; torch.ones(1)'", TORCH.replace("train.py", "the command")),
        ({}, "python -c 'import os, numpy'", ""),
        ({"train.py": ""}, "python -c 'import train'", ""),
        (
            {"run.sh": "set -e\nexport A=1\nuv run \\\n python train.py --lr 1\n"},
            "bash run.sh",
            f"! uv: {NO_PROGRAM}: python train.py --lr 1{BEFORE} (run.sh)",
        ),
        *(
            ({"run.sh": f"{text}\n"}, "bash run.sh", "")
            for text in ("pip install uv\nuv run x.py", "if true; then\n  uv run x.py\nfi", "uv sync || true")
        ),
        ({"run.sh": "curl https://astral.sh/uv | sh\nuv run x.py\n"}, "bash run.sh", ""),
    ],
)
def test_modules_and_programs_that_the_machine_lacks_are_told(files: dict[str, str], command: str, said: str) -> None:
    assert lines(files, command) == ([said] if said else [])


@pytest.mark.parametrize(
    ("locked", "module", "installed", "missing"),
    [
        ("opencv-python", "cv2", {}, ""),
        ("opencv-contrib-python-headless", "cv2", {}, ""),
        ("imbalanced-learn", "imblearn", {}, ""),
        ("acme-core", "anvil", {}, ""),
        ("acme-core", "anvil", {"anvil": {"acme-core"}}, ""),
        ("acme-core", "anvil", {"anvil": {"acme-anvil"}}, "acme-anvil"),
        ("pytorch-lightning", "lightning_fabric", {}, ""),
        ("pytorch-lightning", "torchvision", {}, "torchvision"),
        ("torch", "torchvision", {}, "torchvision"),
        ("xarray", "ray", {}, "ray"),
    ],
)
def test_of_a_lock_only_modules_whose_packages_are_known_are_reported_as_missing(
    locked: str, module: str, installed: dict[str, set[str]], missing: str
) -> None:
    files = {"train.py": f"import {module}\n".encode(), "uv.lock": LOCKED.replace("lightning", locked).encode()}
    packages = packages_of(files, "x", "train.py")
    said = [*lacking(files, "python train.py", packages, CPU, [], lambda name: installed.get(name, ()))]
    assert said == ([f"! {module} (by train.py){UNLISTED}uv add {missing}"] if missing else [])


def test_the_packages_that_bring_a_module_are_those_of_a_virtual_environment(tmp_path: Path) -> None:
    place = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    (place / "cv2").mkdir(parents=True)
    recorded = place / "Opencv_Python-4.dist-info"
    recorded.mkdir()
    (recorded / "METADATA").write_text("Metadata-Version: 2.1\nName: Opencv_Python\nVersion: 4\n")
    (recorded / "RECORD").write_text("cv2/__init__.py,,\nlicense/x,,\n")
    modules = InstalledModules(tmp_path, {"CONDA_PREFIX": str(tmp_path / "none")})
    assert modules.packages_of("cv2") == {"opencv-python"} and not modules.packages_of("license")


def test_a_machine_whose_image_has_them_lacks_nothing() -> None:
    assert lines({"train.py": "import torch\n"}, "torchrun train.py", GPU) == lines({}, "nvidia-smi", GPU) == []


@pytest.mark.parametrize(
    ("files", "command", "names"),
    [
        (["types.py", "train.py", "data.py"], "python train.py", "types.py"),
        (["jobs/json.py", "jobs/train.py", "logging.py"], "python jobs/train.py", "jobs/json.py"),
        (["random/__init__.py", "a/__main__.py", "test.py"], "python -m a", "random/__init__.py"),
        (["test.py", "train.py", "code/x.py", "lib/json.py"], "python train.py", ""),
    ],
)
def test_files_that_hide_modules_of_python_are_told(files: list[str], command: str, names: str) -> None:
    said = [*hidden(dict.fromkeys(files, b""), command)]
    assert said == (
        [f"! {names}: Python has a module of that name, and imports one in place of the other: rename it"]
        if names
        else []
    )


ACCELERATE = (
    "--num_machines $WORLD_SIZE --machine_rank $RANK --main_process_ip $MASTER_ADDR --main_process_port $MASTER_PORT"
)
MEETING = "--nnodes $WORLD_SIZE --node-rank $RANK --master-addr $MASTER_ADDR --master-port $MASTER_PORT"


@pytest.mark.parametrize(
    ("command", "fix"),
    [
        (
            "torchrun --standalone --nproc_per_node=2 train.py --lr 1",
            f"torchrun {MEETING} --nproc_per_node=2 train.py --lr 1",
        ),
        ("python -m torch.distributed.run --nnodes=2 train.py", f"torchrun {MEETING} train.py"),
        ("bash -c 'cd a; LR=1 torchrun train.py'", f"cd a; LR=1 torchrun {MEETING} train.py"),
        (
            "bash -o pipefail -c 'cd a && torchrun --nproc-per-node 2 t.py \"a  b\" 2>&1 | tee log; ls'",
            f'cd a && torchrun {MEETING} --nproc-per-node 2 t.py "a  b" 2>&1 | tee log; ls',
        ),
        (
            "bash -c 'cd a && mpirun -np 2 python t.py > log && echo done'",
            f"cd a && torchrun {MEETING} --nproc-per-node gpu t.py > log && echo done",
        ),
        (
            "bash -c 'A=\"1 2\" accelerate launch --num_processes 2 t.py; echo b'",
            f'A="1 2" accelerate launch {ACCELERATE} --num_processes $((2 * WORLD_SIZE)) t.py; echo b',
        ),
        ("env LR=1 python -m torch.distributed.run t.py", f"env LR=1 torchrun {MEETING} t.py"),
        (
            "accelerate launch --num_processes 4 train.py",
            f"accelerate launch {ACCELERATE} --num_processes $((4 * WORLD_SIZE)) train.py",
        ),
        (
            "deepspeed --num_gpus 2 train.py --deepspeed z.json",
            f"torchrun {MEETING} --nproc-per-node gpu train.py --deepspeed",
        ),
        ("mpirun -np 2 python train.py", f"torchrun {MEETING} --nproc-per-node gpu train.py"),
        # A static rendezvous, which is torchrun's default, takes each machine's rank from the command.
        ("torchrun --nnodes 2 --rdzv-endpoint head:29400 train.py", f"torchrun {MEETING}"),
        ("torchrun --nnodes 2 --rdzv-backend=static --rdzv-endpoint=head train.py", f"torchrun {MEETING}"),
        ("torchrun --nnodes 2 --rdzv-backend c10d --rdzv-endpoint localhost:0 train.py", f"torchrun {MEETING}"),
        ("torchrun --nnodes 2 --rdzv-backend c10d train.py", f"torchrun {MEETING}"),
        ("torchrun --nnodes=1:1 --rdzv-backend c10d --rdzv-endpoint head:1 train.py", f"torchrun {MEETING}"),
        ("torchrun --rdzv-backend c10d --rdzv-endpoint head:29400 train.py", f"torchrun {MEETING}"),
    ],
)
def test_a_launcher_that_trains_on_each_machine_by_itself_is_refused(command: str, fix: str) -> None:
    for one in (None, 1):
        require_joined(command, one)
    with pytest.raises(ConfigError, match="makes each of the 2 machines the first of its own run") as error:
        require_joined(command, 2)
    typed = shlex.split(str(error.value.fix))
    assert typed[:4] == ["slipway", "run", "--replicas", "2"] and typed[4].startswith(fix), typed
    require_joined(typed[4], 2)


@pytest.mark.parametrize(
    "command",
    [
        f"bash -c 'torchrun {MEETING} train.py'",
        "bash -c 'accelerate launch --machine_rank $RANK --num_machines 2 train.py'",
        "bash -c 'mpirun -np 4 python eval.py --shard $RANK'",
        "torchrun --nnodes 2 --rdzv-backend c10d --rdzv-endpoint head:29400 --nproc-per-node 8 train.py",
        "torchrun --nnodes=1:2 --rdzv_backend=c10d --rdzv_endpoint=10.0.0.7 train.py",
        "bash -c 'torchrun --nnodes 2 --rdzv_backend etcd-v2 --rdzv_endpoint $ETCD:2379 train.py'",
        "python -m torch.distributed.run --nnodes 2 --rdzv-backend c10d --rdzv-endpoint head:1 train.py",
        "accelerate launch --num_machines 2 --rdzv_backend c10d --main_process_ip head train.py",
        "python train.py",
        "python -m pytest",
        "'",
        "",
    ],
)
def test_what_names_the_other_machines_or_launches_nothing_is_sent(command: str) -> None:
    require_joined(command, 2)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"requirements.txt": "torch\n"}, "pyproject.toml is ignored"),
        ({"requirements.txt": "torch\n", "uv.lock": ""}, "pyproject.toml and uv.lock are ignored"),
        ({"requirements.txt": "six>=1\n"}, ""),
        ({"requirements.txt": "-e .\n"}, ""),
        ({"requirements.txt": "torch\n", "pyproject.toml": "[tool.ruff]\n"}, ""),
        ({}, ""),
    ],
)
def test_a_requirements_txt_that_drops_the_project_s_packages_is_reported(files: dict[str, str], said: str) -> None:
    packed = {name: text.encode() for name, text in {"pyproject.toml": PROJECT, **files}.items()}
    line = f"! {said}, as the folder has a requirements.txt, which does not list six: "
    found = [*replaced(packed, packages_of(packed, "x"))]
    assert found == ([f"{line}delete requirements.txt, or list all packages in it"] if said else [])


OWN = {
    "pyproject.toml": b'[project]\nname = "mytrain"\n[project.scripts]\nmytrain = "mytrain.train:main"\n',
    "src/mytrain/__init__.py": b"",
    "src/mytrain/data.py": b"import os\n",
    "src/mytrain/train.py": b"from .data import load\n",
    "src/mytrain/fast.pyx": b"",
    "lib/x.py": b"",
    "pack/__init__.py": b"",
    "pack/__main__.py": b"from . import x\n",
    "top.py": b"from .data import load\n",
    "own.py": b"__package__ = 'mytrain'\nfrom .data import load\n",
    "try.py": b"try:\n    from .data import load\nexcept ImportError: ...\n",
}
BY_PATH = "src/mytrain/train.py has a relative import, `from .data import load`, and is started by its path"


@pytest.mark.parametrize(
    ("command", "what", "fix"),
    [
        ("python -m mytrain.trian", "runs mytrain.trian, which is not in the folder", "did you mean mytrain.train?"),
        ("torchrun --nproc_per_node 2 -m mytrain.trian", "runs mytrain.trian", "did you mean mytrain.train?"),
        ("bash -c 'ls && python -u -m mytrain.x.y | tee l'", "runs mytrain.x.y", "name a module of the folder, or add"),
        ("python -m mytrain", "which is a package without a __main__.py", "did you mean mytrain.data?"),
        ("python -u src/mytrain/train.py lr=1", BY_PATH, "slipway run python -u -m mytrain.train lr=1"),
        ("torchrun ./src/mytrain/train.py", BY_PATH, "slipway run torchrun -m mytrain.train"),
        ("bash -c 'ls; src/mytrain/train.py'", BY_PATH, "slipway run python -m mytrain.train"),
        ("python top.py", "top.py has a relative import", "import it without the dots"),
    ],
)
def test_a_module_that_can_t_run_is_refused(command: str, what: str, fix: str) -> None:
    with pytest.raises(ConfigError) as error:
        require_own_modules(OWN, command)
    assert what in error.value.what and str(error.value.fix).startswith(fix)


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("python -m mytrian.train", "! mytrian.train is not in the folder: did you mean mytrain.train?"),
        ("mytrian lr=1", "! mytrian is not a program of the folder's project: did you mean mytrain?"),
        *(
            (each, "")
            for each in ("python -m mytrain.train", "python -m mytrain.fast", "python -m pack", "mytrain -m x")
        ),
        *((each, "") for each in ("python -m lib.x", "python -m lib.y", "python -m pytest", "python own.py")),
        *(
            (each, "")
            for each in ("python try.py -m mytrain.no", "bash -c 'make; python -m mytrain.trian'", "ls top.py")
        ),
        *((each, "") for each in ("bash -c 'cd src/mytrain; python -m mytrain.trian'", "python", "'", "python -m")),
    ],
)
def test_a_module_or_a_program_that_is_nearly_one_of_the_folder_is_reported(command: str, line: str) -> None:
    require_own_modules(OWN, command)
    assert [*mistyped(OWN, command)] == ([line] if line else [])


def test_a_program_of_a_workspace_s_member_is_known_if_a_job_has_the_member() -> None:
    scripts = b'[project]\nname = "go"\n[project.scripts]\nmytrain2 = "go.cli:main"\n'
    files = {**OWN, "apps/go/pyproject.toml": scripts}
    assert [*mistyped(files, "mytrain2", ["apps/go/src"])] == []
    not_required = "! mytrain2 is a program of apps/go, which pyproject.toml does not require: uv add ./apps/go"
    assert [*mistyped(files, "mytrain2")] == [not_required]


@pytest.mark.parametrize(
    ("command", "fix"),
    [
        ("uv run mytrain lr=1", "slipway run mytrain lr=1"),
        ("uv run --frozen train.py --lr 1", "slipway run python train.py --lr 1"),
        ("env LR=1 poetry run python train.py", "slipway run python train.py"),
        ("bash -c 'pip install uv && uv run train.py'", ""),
        ("uv sync", ""),
        ("conda run train.py", ""),
        ("", ""),
    ],
)
def test_a_runner_that_no_image_has_is_refused_with_the_command_without_it(command: str, fix: str) -> None:
    require_no_runner(command, FolderPackages(("uv==1", "poetry")), CPU)
    if not fix:
        require_no_runner(command, FolderPackages(), CPU)
        return
    with pytest.raises(ConfigError, match="has no such program") as error:
        require_no_runner(command, FolderPackages(("six",)), CPU)
    assert str(error.value.fix) == fix
