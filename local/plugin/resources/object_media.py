"""The bytes of an object, from a string, a file or an archive, and their content type."""

import base64
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

from ..transport import CloudError
from ..values import Archive, Asset

_EPOCH = (1980, 1, 1, 0, 0, 0)
_MAGIC = (
    (b"\x1f\x8b\x08", "application/x-gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
)
_BINARY = frozenset(range(0x20)) - {0x09, 0x0A, 0x0C, 0x0D, 0x1B}


def media(source: Asset | Archive) -> bytes:
    """Return the bytes of an asset; an archive becomes a zip, the same for the same files. Raises CloudError."""
    try:
        if isinstance(source, Asset):
            return _asset(source)
        return _zip(_files(source))
    except (OSError, tarfile.TarError, zipfile.BadZipFile) as problem:
        raise CloudError(f"source: can't be read: {problem}") from problem


def is_elided(source: Asset | Archive) -> bool:
    """Return whether only the hash was sent: the engine leaves the contents out where it asks for differences."""
    if isinstance(source, Asset):
        return source.text is None and source.path is None and source.uri is None
    return source.assets is None and source.path is None and source.uri is None


def md5(data: bytes) -> str:
    """Return the MD5 as the Storage API writes it."""
    return base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()


def content_type(data: bytes) -> str:
    """Return the content type that the bytes suggest, for an object to which the program gives none."""
    for magic, name in _MAGIC:
        if data.startswith(magic):
            return name
    return "application/octet-stream" if _BINARY.intersection(data[:512]) else "text/plain; charset=utf-8"


def _asset(asset: Asset) -> bytes:
    if asset.text is not None:
        return asset.text.encode()
    if asset.path is not None:
        return Path(asset.path).read_bytes()
    raise CloudError(f"source: the local gcp plugin fetches nothing from elsewhere ({asset.uri})")


def _files(archive: Archive) -> dict[str, bytes]:
    if archive.assets is not None:
        files: dict[str, bytes] = {}
        for name, item in archive.assets.items():
            if isinstance(item, Asset):
                files[name] = _asset(item)
            else:
                files |= {f"{name}/{inner}": data for inner, data in _files(item).items()}
        return files
    if archive.path is None:
        raise CloudError(f"source: the local gcp plugin fetches nothing from elsewhere ({archive.uri})")
    path = Path(archive.path)
    if path.is_dir():
        inner = (one for one in path.rglob("*") if one.is_file())
        return {one.relative_to(path).as_posix(): one.read_bytes() for one in inner}
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            return {one.filename: packed.read(one) for one in packed.infolist() if not one.is_dir()}
    with tarfile.open(path) as tape:
        return {one.name: _member(tape, one) for one in tape.getmembers() if one.isfile()}


def _member(tape: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = tape.extractfile(member)
    return b"" if stream is None else stream.read()


def _zip(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), files[name], zipfile.ZIP_DEFLATED)
    return packed.getvalue()
