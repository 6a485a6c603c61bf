"""Addresses of replicas: each its own, so that all can listen on the ports they like."""

import hashlib
import sys
from pathlib import Path

# Parts of an address have three digits, so that a job's addresses sort as the service's names do: chief first.
_LEAST, _PARTS = 100, 155
_HOSTS = _PARTS**3
_FIRST_PORT = 10_000
_PORTS = 18_000
SERVER_PORTS = range(_FIRST_PORT + _PORTS, 32_000)
"""Ports of local clouds themselves. A replica's program that listens on every address fails on a port in use."""


def beginning(state_folder: Path) -> int:
    """Return the number from which a cloud counts its replicas, so that two clouds hardly meet."""
    return int(hashlib.sha256(bytes(state_folder)).hexdigest()[:12], 16) % _HOSTS


def address(number: int, first: int, platform: str = sys.platform) -> tuple[str, int, int]:
    """Return (host, training port, open port) for the replica that is the `number`th of all, from 1, of a job whose
    first replica is the `first`th.

    Linux answers on all of 127.0.0.0/8, so there each replica has a host of its own, outside 127.0.0.x, and only jobs
    differ by their ports: programs that listen on every address, as PyTorch's store does, would otherwise meet those of
    another job. Elsewhere each replica has ports of its own.
    """
    if platform == "linux":
        rest, fourth = divmod((number - 1) % _HOSTS, _PARTS)
        second, third = divmod(rest, _PARTS)
        port = _FIRST_PORT + 2 * (first - 1) % _PORTS
        return f"127.{second + _LEAST}.{third + _LEAST}.{fourth + _LEAST}", port, port + 1
    port = _FIRST_PORT + 2 * (number - 1) % _PORTS
    return "127.0.0.1", port, port + 1
