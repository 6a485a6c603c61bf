"""`python -m dask_digits.task`: one command for every replica; CLUSTER_SPEC says which part it plays."""

from __future__ import annotations

import argparse
import asyncio
import os
import posixpath
import sys
from collections.abc import Mapping

from . import topology


def options(argv: list[str], environ: Mapping[str, str]) -> argparse.Namespace:
    """`output` and `model_dir` are local paths or gs:// addresses; Vertex AI sets AIP_MODEL_DIR."""
    parser = argparse.ArgumentParser(prog="dask_digits", description=__doc__)
    parser.add_argument("--trees", type=int, default=50, help="trees in a forest")
    parser.add_argument("--candidates", type=int, default=8, help="settings to try")
    parser.add_argument("--folds", type=int, default=3, help="folds of the cross-validation, 2 or more")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same split and the same settings")
    parser.add_argument("--output", default="output", help="folder or gs:// address for metrics.json")
    known = parser.parse_args(argv)
    known.model_dir = environ.get("AIP_MODEL_DIR") or posixpath.join(known.output, "model")
    return known


def quiet() -> None:
    """Dask's own log tells of every connection; ours tells how far the search is. Read when Dask is first imported."""
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "error")


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    quiet()
    known = options(argv, environ)
    me = topology.read(environ)
    if me.role == "worker":
        from . import worker

        asyncio.run(worker.serve(me))
        return 0
    from . import scheduler

    asyncio.run(scheduler.alone(known) if me.role == "alone" else scheduler.serve(me, known))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
