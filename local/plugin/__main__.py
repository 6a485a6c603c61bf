"""`pulumi-resource-gcp`: prints the port of its gRPC server and serves until the engine is gone."""

import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import FrameType

import grpc

from .engine_log import EngineLog
from .pace import Pace
from .protos import services
from .server import Service

POLL_VARIABLE = "SLIPWAY_GCP_PLUGIN_POLL_SECONDS"
"""The variable that shortens, for tests, the 10 s between two looks at an operation."""
SPEED_VARIABLE = "SLIPWAY_GCP_PLUGIN_SPEED"
"""The variable that speeds up, for tests, the provider's clock: its waits, and the time-outs of resources."""
SILENCE_VARIABLE = "SLIPWAY_GCP_PLUGIN_SILENCE_SECONDS"
"""The variable that shortens, for tests, the 300 s that an answer may take."""
_LARGEST_MESSAGE = 400 * 1024 * 1024
_THREADS = 128


def main() -> None:
    """Serve. Leaves at once when told to, and within seconds when the engine was killed."""
    engine = os.getppid()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, _leave)
    server = grpc.server(
        ThreadPoolExecutor(_THREADS),
        options=[
            ("grpc.max_receive_message_length", _LARGEST_MESSAGE),
            ("grpc.max_send_message_length", _LARGEST_MESSAGE),
        ],
    )
    speed = float(os.environ.get(SPEED_VARIABLE, "1"))
    # The interval is the person's, whatever the clock does.
    poll = float(os.environ.get(POLL_VARIABLE, "10")) * speed
    pace = Pace(poll=poll, speed=speed, silence=float(os.environ.get(SILENCE_VARIABLE, "300")))
    log = EngineLog(sys.argv[1]) if len(sys.argv) > 1 else None
    services.add_ResourceProviderServicer_to_server(Service(pace, log=log), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    while os.getppid() == engine:
        time.sleep(1)
    os._exit(0)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    # The server's own way out waits for its threads, and the engine, 5 s long, for this process.
    os._exit(0)


if __name__ == "__main__":
    main()
