"""What only a GPU runs takes no room in an image, and all else of a library stays as it is (N4)."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from local.cloud.images import device_code

CODE, FATBIN = b"\x90" * 8192, b"g" * 1_000_000


def library(place: Path) -> Path:
    """A library of two sections, as a linker lays them out: headers, contents, names, table."""
    names = b"\0.text\0.nv_fatbin\0.shstrtab\0"
    contents = {b".text": CODE, b".nv_fatbin": FATBIN, b".shstrtab": names}
    body, table, at = b"", bytes(64), 64
    for name, content in contents.items():
        table += struct.pack("<IIQQQQIIQQ", names.index(name), 1, 0, 0, at, len(content), 0, 0, 0, 0)
        body, at = body + content, at + len(content)
    head = b"\x7fELF\x02\x01".ljust(40, b"\0") + struct.pack("<QI6H", at, 0, 64, 0, 0, 64, 4, 3)
    place.write_bytes(head + body + table)
    return place


def test_code_for_gpus_reads_as_zeros(tmp_path: Path) -> None:
    made = library(tmp_path / "libtorch_cuda.so")
    size, blocks = made.stat().st_size, made.stat().st_blocks
    whole = made.read_bytes()
    device_code.forget(tmp_path)
    assert made.stat().st_size == size and made.read_bytes().replace(b"\0", b"") == whole.replace(FATBIN, b"").replace(
        b"\0", b""
    )
    if sys.platform == "linux":
        assert made.stat().st_blocks < blocks - 1500


def test_a_file_that_others_share_stays(tmp_path: Path) -> None:
    made = library(tmp_path / "libcublas.so.12")
    (tmp_path / "cached").hardlink_to(made)
    before = made.read_bytes()
    device_code.forget(tmp_path)
    assert made.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"", b"GROUP ( libc.so.6 )", b"\x7fELF\x02\x01", b"\x7fELF\x02\x01" + b"\xff" * 90]
)
def test_what_is_no_library_stays(tmp_path: Path, content: bytes) -> None:
    made = tmp_path / "odd.so"
    made.write_bytes(content)
    device_code.forget(tmp_path)
    assert made.read_bytes() == content
