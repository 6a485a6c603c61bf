"""gzip without compression. zlib's output differs between its builds, and a package is named by a hash of its bytes."""

from __future__ import annotations

import zlib

_BLOCK = 0xFFFF


def stored(content: bytes) -> bytes:
    """`content` as a gzip file of stored blocks (RFC 1951 3.2.4, RFC 1952), without a time or a name in its header."""
    starts = range(0, max(len(content), 1), _BLOCK)
    blocks = [content[start : start + _BLOCK] for start in starts]
    last = len(blocks) - 1
    body = b"".join(
        bytes([index == last]) + len(block).to_bytes(2, "little") + (len(block) ^ 0xFFFF).to_bytes(2, "little") + block
        for index, block in enumerate(blocks)
    )
    header = b"\x1f\x8b\x08\x00" + b"\x00" * 4 + b"\x00\xff"
    return header + body + zlib.crc32(content).to_bytes(4, "little") + (len(content) & 0xFFFFFFFF).to_bytes(4, "little")
