"""Clusters that nobody needs any more, which go before others are made: those may not be had for days, and the engine
deletes last, and nothing when one could not be made. The interim catalog does not offer them."""

from __future__ import annotations

from collections.abc import Sequence

from slipway.cloud.jobs import VertexJob
from slipway.creation.in_place import InPlace
from slipway.errors import Timeout


class Ahead(InPlace):
    within = 30 * 60.0
    _then, _stays = "", "it stays"
    _before = "it is not asked for any more, and nothing is made before it is gone"

    def _withdraw(self) -> None:
        self._grace.withdraw(self._ids)

    def _offer_again(self) -> None:
        pass

    def _mend(self, jobs: Sequence[VertexJob]) -> str:
        return "pulumi up again: it keeps the cluster until nothing runs on it"

    def _wait_until_gone(self, id_: str) -> None:
        try:
            super()._wait_until_gone(id_)
        except Timeout as slow:
            self._cloud.warn(f"{slow.what}; what is to be made is asked for all the same")
