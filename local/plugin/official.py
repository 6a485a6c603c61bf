"""`python -m local.plugin.official PLUGIN …`: an official gcp plugin that reaches this machine alone, and ends with the
engine.

By itself the plugin asks Google at each start whose token it was given, and the metadata server whether it runs in the
cloud, whatever endpoints it has; and an engine that is killed leaves it behind for minutes.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from threading import Thread

NOWHERE = "127.0.0.1:9"
"""The discard port: nothing answers there."""
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
_PAST_THEM = ("NO_PROXY", "no_proxy")


def held(environ: Mapping[str, str], nowhere: str = NOWHERE) -> dict[str, str]:
    """Return an environment in which every way out of this machine, also to Google's metadata, leads nowhere."""
    proxies = dict.fromkeys((*_PROXIES, *map(str.lower, _PROXIES)), f"http://{nowhere}")
    past = dict.fromkeys(_PAST_THEM, "127.0.0.1,localhost,::1")
    return {**environ, **proxies, **past, "GCE_METADATA_HOST": nowhere}


def main() -> None:
    """Run the plugin and exit with its code."""
    engine = os.getppid()
    early: list[int] = []
    _heed(early.append)
    plugin = subprocess.Popen(sys.argv[1:], env=held(os.environ))
    _heed(plugin.send_signal)
    for number in early:
        plugin.send_signal(number)
    Thread(target=_end_with, args=(engine, plugin), daemon=True).start()
    sys.exit(plugin.wait())


def _heed(tell: Callable[[int], object]) -> None:
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda number, _: tell(number))


def _end_with(engine: int, plugin: "subprocess.Popen[bytes]") -> None:
    while os.getppid() == engine:
        time.sleep(1)
    plugin.kill()


if __name__ == "__main__":
    main()
