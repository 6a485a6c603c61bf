"""Host headers: a browser sends the name that a page was loaded from, whatever address that name was made to have."""

import ipaddress
import re

_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?")


def loopback(host: str) -> bool:
    """Whether a Host header names this machine by a loopback address, or as `localhost`."""
    match = _HOST.fullmatch(host.strip())
    if match is None:
        return False
    name = match[1].strip("[]")
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
