"""What is wrong with the alternatives of a cluster: pools that it does not have, or machines that were named before."""

from __future__ import annotations

from collections.abc import Callable

from slipway.formatting import join, nearest, quoted
from slipway.stack.yaml_file import DocumentPart

_EARLIER = "`pools` above"


def check_alternatives(cluster: DocumentPart, check_pool: Callable[[DocumentPart], None]) -> None:
    """`check_pool` finds what is wrong with one pool by itself."""
    own = cluster["pools"].of(dict) or {}
    seen = [own]
    for alternative in cluster["alternatives"].entries():
        pools = alternative["pools"]
        for name, pool in pools.items():
            check_pool(pool)
            if own and name not in own:
                near = nearest(name, tuple(own))
                known = f"did you mean `{near}`?" if near else f"one of {join(sorted(own), 'or')}"
                pool.wrong(f"the cluster has no pool {quoted(name)} that this could stand for", known)
        whole = {**own, **(pools.of(dict) or {})}
        if pools.value is not None and whole in seen:
            earlier = _EARLIER if whole == own else "an alternative above"
            pools.wrong(f"asks for the same as {earlier}", "other machines, another disk or number; or take it out")
        seen.append(whole)
