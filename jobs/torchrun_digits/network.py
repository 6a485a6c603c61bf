"""The network interface that has an address: gloo listens where it is told, else where the machine's name points."""

from __future__ import annotations

import contextlib
import fcntl
import socket
import struct
from ipaddress import IPv4Address

_SIOCGIFADDR = 0x8915  # Linux's; elsewhere it is an error, and the choice stays gloo's


def interface_of(host: str) -> str | None:
    """The interface that has the address of `host`; None when it can't be told.

    Where replicas share a machine, each with an address out of 127.0.0.0/8, it is the loopback, which has them all.
    """
    try:
        wanted = IPv4Address(socket.gethostbyname(host))
    except OSError:
        return None
    for _, name in socket.if_nameindex():
        own = _address(name)
        if own == wanted or (own and own.is_loopback and wanted.is_loopback):
            return name
    return None


def _address(name: str) -> IPv4Address | None:
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        # The name goes into the first 16 bytes of the request, the address comes 20 bytes in.
        answer = fcntl.ioctl(asked, _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
        return IPv4Address(answer[20:24])
    return None
