"""Addresses of replicas: each its own, so that all can listen on the ports they like."""

import sys

TRAINING_PORT = 2222
OPEN_PORT = 7777
_FIRST_PORT = 20_000
_PORTS = 40_000


def address(number: int, platform: str = sys.platform) -> tuple[str, int, int]:
    """(host, training port, open port) for the replica that is the `number`th of all, from 1.

    Linux answers on all of 127.0.0.0/8, so there each replica has a host of its own, outside 127.0.0.x; elsewhere
    it has ports of its own.
    """
    if platform == "linux":
        second, rest = divmod((number - 1) % (254 * 256 * 254), 256 * 254)
        third, fourth = divmod(rest, 254)
        return f"127.{second + 1}.{third}.{fourth + 1}", TRAINING_PORT, OPEN_PORT
    port = _FIRST_PORT + 2 * (number - 1) % _PORTS
    return "127.0.0.1", port, port + 1
