"""What a command needs and its machines lack is reported before anything is sent."""

import shlex

import pytest

from slipway.authoring.packages.command_check import Machine, hidden, lacking, require_joined
from slipway.authoring.packages.command_script import script_of
from slipway.authoring.packages.folder_packages import packages_of
from slipway.base.errors import ConfigError

CPU = Machine("sklearn-cpu.1-6", "scikit-learn", has_gpu=False)
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
TORCH = "! torch (by train.py)" + NONE.format("it", f"torch in requirements.txt{OR}")


def lines(files: dict[str, str], command: str, here: Machine = CPU) -> list[str]:
    packed = {name: text.encode() for name, text in files.items()}
    return [*lacking(packed, command, packages_of(packed, "x", script_of(command)), here, [GPU])]


@pytest.mark.parametrize(
    ("files", "command", "said"),
    [
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
            "! torch (by train.py), wandb (by train.py)" + NONE.format("them", "torch and wandb in uv.lock"),
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
    ],
)
def test_modules_and_programs_that_the_machine_lacks_are_told(files: dict[str, str], command: str, said: str) -> None:
    assert lines(files, command) == ([said] if said else [])


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
        [f"! {names}: Python imports it in place of its own module of that name: rename it"] if names else []
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
        ("bash -c 'cd a; LR=1 torchrun train.py'", f"torchrun {MEETING} train.py"),
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
