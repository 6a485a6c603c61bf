"""Paths and variables that no job has, in a folder's code and settings. # N11 # N25"""

import subprocess
from pathlib import Path

import pytest

from slipway.authoring.packages.folder_check import about
from slipway.authoring.packages.foreign_paths import foreign
from slipway.authoring.packages.working_tree import read

DEFAULT = "add_argument('-d', '--data', type=str,\n  default='../ames/train.csv')"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    for name in ("project/data/small.csv", "project/src/train.py", "project/tests/data.py", "ames/train.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    subprocess.run(["git", "init", "-q"], cwd=made, check=True)
    return made


@pytest.mark.parametrize(
    ("name", "text", "path"),
    [
        ("train.py", "read('../ames/train.csv')", "../ames/train.csv"),  # kubeflow/fairing 283
        ("src/train.py", "read('../../ames/train.csv')", "../../ames/train.csv"),
        ("conf.yaml", "data: ~/ames/train.csv", "~/ames/train.csv"),
        ("run.sh", "python train.py --data ~/ames/train.csv", "~/ames/train.csv"),
        ("conf.yaml", "files:\n  - ../ames/train.csv", "../ames/train.csv"),
        ("conf.yaml", "data: file:../ames/train.csv", "../ames/train.csv"),  # Stability-AI/StableCascade 34
        ("conf.yaml", "# data: ../ames/train.csv", ""),
        ("train.py", "read('../ames/test.csv')", ""),
        ("src/train.py", "read('../data/small.csv')", ""),
        ("tests/data.py", "read('../../ames/train.csv')", ""),
        ("train.py", DEFAULT, "../ames/train.csv"),
        ("train.py", DEFAULT.replace("--data", "--set"), ""),
        ("train.py", "run(data, default='../ames/train.csv')", ""),
        ("train.py", "# as in ../ames/train.csv", ""),
    ],
)
def test_a_path_that_leads_out_of_the_folder_is_told_where_it_is_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, path: str
) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    (folder / name).write_text(f"{text}\n")
    lines = "\n".join(about(read(folder), folder, "python train.py --set data/small.csv"))
    assert (f"{path} (of this machine, outside of the folder)" in lines) == bool(path)
    assert ("outside of the folder" in lines) == bool(path)


@pytest.mark.parametrize(
    ("name", "text", "path", "why"),
    [
        ("train.py", "read(r'C:\\Users\\ada\\x.csv')", "C:\\Users\\ada\\x.csv", "a path of Windows"),
        ("train.py", "read('D:/data/x.csv')", "D:/data/x.csv", "a path of Windows"),
        ("train.py", "read('data\\\\small.csv')", "data\\\\small.csv", "as Windows writes data/small.csv"),
        ("train.py", "read('s3://mine/x.csv')", "s3://mine/x.csv", "of another cloud: gcloud storage cp"),
        ("conf.yaml", "data: pipe:aws s3 cp s3://mine/{000..100}.tar -", "s3://mine/", "of another cloud"),
        ("conf.yaml", "data: abfss://c@mine.dfs.core.windows.net/x", "abfss://c@mine.dfs.core.windows.net/x", "of an"),
        ("train.py", "open('/opt/ml/input/data/train/x.csv')", "/opt/ml/input/data/train/x.csv", "$SLIPWAY_DATA here"),
        ("train.py", "save('/opt/ml/model')", "/opt/ml/model", "$SLIPWAY_OUTPUT here"),
        ("train.py", "default=os.environ['SM_CHANNEL_TRAIN']", "SM_CHANNEL_TRAIN", "SageMaker's: $SLIPWAY_DATA here"),
        ("train.py", "open('/kaggle/input/titanic/train.csv')", "/kaggle/input/titanic/train.csv", "Kaggle's"),
        ("train.py", "open('/content/drive/MyDrive/x')", "/content/drive/MyDrive/x", "Colab's"),
        ("run.sh", "torchrun --node-rank=${SKYPILOT_NODE_RANK} x.py", "SKYPILOT_NODE_RANK", "another tool's: RANK"),
    ],
)
def test_what_another_system_has_is_told_with_what_a_job_has(
    folder: Path, name: str, text: str, path: str, why: str
) -> None:
    (folder / name).write_text(f"{text}\n")
    assert [found for found in foreign(read(folder), folder, "python train.py") if found[0] == path and why in found[1]]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("train.py", "os.environ.get('SM_CHANNEL_TRAIN', 'data')"),
        ("train.py", "if 'SM_MODEL_DIR' in os.environ: ..."),
        ("train.py", "if os.path.exists('/kaggle/input'): ..."),
        ("train.py", "print('x:\\n'); re.match('data\\\\d+', 'a'); open('hf://a/b'); url = 'http://x/y'"),
        ("train.py", "if path.startswith('s3://'): ..."),
        ("tests/data.py", "read('s3://bucket/key')"),
        ("notes.md", "'s3://mine/x.csv'"),
    ],
)
def test_what_is_written_for_several_places_is_not_told(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"{text}\n")
    assert not [*foreign(read(folder), folder, "python train.py")]


@pytest.mark.parametrize(
    "command",
    [
        "python train.py --data s3://mine/x",
        "python train.py --data=s3://mine/x",
        "bash -c 'python train.py --data \"s3://mine/x\"'",
        "bash -c 'DATA=s3://mine/x python train.py'",
        "python train.py --out=$PWD/.. --data s3://mine/x",
    ],
)
def test_what_the_command_names_is_told_once(folder: Path, command: str) -> None:
    assert [path for path, _ in foreign(read(folder), folder, command)] == ["s3://mine/x"]
    first = next(iter(about(read(folder), folder, command)))
    assert first == (
        "! not packed, and named: s3://mine/x (of another cloud: gcloud storage cp --recursive takes it to gs://)"
    )
