"""The table of prebuilt images: on which GPUs they run, and until when. # X6 N3"""

from datetime import UTC, date, datetime

import pytest

from slipway.model.machines.images import PrebuiltImage, images_of, misfits, prebuilt
from slipway.model.machines.table import accelerators

AT = "us-docker.pkg.dev/vertex-ai/training"
TORCH = f"{AT}/pytorch-gpu.2-4.py310:latest"


def pool(gpu: str | None, image: str = TORCH, **code: str) -> dict[str, object]:
    machine = {"acceleratorType": gpu} if gpu else {}
    return {"machineSpec": machine, "pythonPackageSpec": {"executorImageUri": image, **code}}


def test_an_image_runs_on_the_gpus_that_its_framework_is_built_for() -> None:
    """PyTorch 2.4 reports sm_50 to sm_90; Blackwell came with 2.7 and CUDA 12.8."""
    refused = [gpu for gpu in accelerators() if list(misfits([pool(gpu)], []))]
    assert refused == ["NVIDIA_B200", "NVIDIA_GB200", "NVIDIA_RTX_PRO_6000"]
    [why] = misfits([pool("NVIDIA_B200")], [])
    assert why.startswith("image pytorch-gpu.2-4.py310 can't run on NVIDIA_B200: its torch 2.4 is built for")
    assert why.endswith("compute capability 5.0 to 9.0, and this GPU has 10.0")


@pytest.mark.parametrize("line", ["torch==2.9.1", "torch>=2.7", "torch"])
def test_code_that_brings_its_own_framework_is_not_refused(line: str) -> None:
    assert list(misfits([pool("NVIDIA_B200")], ["accelerate==1.15.0", line])) == []
    assert list(misfits([pool("NVIDIA_B200")], ["torchvision==0.19"])) != []


@pytest.mark.parametrize(
    "image",
    [
        "us-docker.pkg.dev/acme/team/pytorch-gpu.2-4.py310:latest",
        "pytorch/pytorch:2.4",
        f"{AT}/pytorch-gpu.2-9.py312:latest",  # Google may have it by now: unknown.
        f"{AT}/tf-gpu.2-17.py310:latest",  # Listed, and which GPUs it is built for is unknown.
    ],
)
def test_nothing_is_said_of_what_is_unknown_or_ones_own(image: str) -> None:
    own = {"machineSpec": {"acceleratorType": "NVIDIA_B200"}, "containerSpec": {"imageUri": image}}
    assert list(misfits([own, pool("NVIDIA_B200", image), pool(None), {}], [])) == []


def test_a_container_from_a_prebuilt_image_is_that_image() -> None:
    same = {"containerSpec": {"imageUri": TORCH.replace("us-", "europe-")}}
    assert [image.name for image in images_of([pool(None), same, {}])] == ["pytorch-gpu.2-4.py310"]


def test_its_days_end() -> None:
    image = prebuilt(TORCH)
    assert image
    assert [image.ended(datetime(year, 7, 24, 23, 59, tzinfo=UTC)) for year in (2025, 2026)] == [
        "",
        "image pytorch-gpu.2-4.py310 has had no security updates since 2025-07-24",
    ]
    assert image.ended(datetime(2026, 7, 25, tzinfo=UTC)) == (
        "image pytorch-gpu.2-4.py310 may be gone: Google's list offered it until 2026-07-24"
    )


@pytest.mark.parametrize(
    ("image", "newer"),
    [
        ("pytorch-gpu.1-13.py310", "pytorch-gpu.2-4.py310"),
        ("pytorch-xla.2-0.py310", "pytorch-xla.2-4.py310"),
        ("tf-cpu.2-12.py310", "tf-cpu.2-17.py310"),
        ("sklearn-cpu.1-0", "sklearn-cpu.1-6"),
        ("sklearn-cpu.1-6", ""),
        ("pytorch-gpu.2-4.py310", ""),
    ],
)
def test_the_newest_image_of_the_same_framework_and_hardware_is_named(image: str, newer: str) -> None:
    found = prebuilt(f"{AT}/{image}:latest")
    assert found and found.newer == newer


def test_the_table_is_consistent() -> None:
    from slipway.model.machines.images import _table

    for name, image in _table().items():
        assert prebuilt(f"{AT}/{name}:latest") == image
        assert date.fromisoformat(image.end_of_patches) < date.fromisoformat(image.end_of_availability)
        assert image.version.replace(".", "-") in name
        assert (image.cuda is None) == ("-gpu." not in name)
        assert isinstance(image, PrebuiltImage) and (image.oldest_gpu is None) == (image.newest_gpu is None)
