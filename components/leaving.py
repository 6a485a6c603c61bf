"""A stack that is taken down, of which other stacks may need something."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from slipway.deploying.deployment.deletion_guard import StackGuard
from slipway.deploying.deployment.shared_grants import dropped, must_be_unneeded
from slipway.deploying.deployment.summary import doubtful_grants, shared_grants
from slipway.deploying.deployment.workspace_plan import SharedGrant
from slipway.google.live import Unknown
from slipway.model.state import State, StateGrant


class Leaving(StackGuard):
    """A stack that is taken down, and the grants that other stacks may need. Each is decided on when the stack's
    catalog is gone, so that of two stacks that are taken down at once the later one sees that nobody needs it."""

    taken_down = True

    def __init__(self, environ: Mapping[str, str], stack: str, place: tuple[str, str], known: State | Unknown) -> None:
        super().__init__(environ, stack, place, known)
        self.grants = () if isinstance(known, Unknown) else dropped(known)
        self._told: dict[StateGrant, SharedGrant] = {}
        #: Each line about roles of a member is printed once, however many roles it is about.
        self._printed: set[str] = set()

    def foretell(self) -> None:
        """Tell which of them would stay now."""
        staying = [stays for stays in self.need(self.grants) if not stays.passing]
        self._told = {stays.grant: stays for stays in staying}
        if needed := shared_grants(staying):
            pulumi.log.info(needed)
            self._printed.update(needed.splitlines())
        for warning in doubtful_grants(staying, self.place[0]):
            pulumi.log.warn(warning)

    def leaves(self, grant: StateGrant) -> bool:
        return any(grant.name == known.name for known in self.grants)

    def let_go(self, grant: StateGrant) -> None:
        """Take a grant from its member unless another stack needs it. Raises PolicyError where that can't be told now,
        CloudError where it can't be taken."""
        if not self.has(grant):
            return
        stays, told = self.release_in_time(grant, pulumi.log.info), self._told.get(grant)
        if stays and stays.passing:
            must_be_unneeded(grant, stays)
        if stays is None and told:
            pulumi.log.info(f"{grant.role} of {grant.member} goes, as no other stack needs it by now")
        elif stays and not (told and told.stacks == stays.stacks):
            for text in (shared_grants([stays]), *doubtful_grants([stays], self.place[0])):
                if text and text not in self._printed:
                    self._printed.add(text)
                    pulumi.log.warn(text)
