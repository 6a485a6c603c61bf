"""The service account that something is to run as."""

from ..access.policies import ACCOUNTS
from ..wire import failed_precondition
from ..world import World


def check(world: World, principal: str | None, email: str) -> None:
    """Check that the caller may act as the account, and that it exists. Raises 403, 400. `principal` is None for the
    cloud itself, which acts on an earlier call."""
    if principal is not None:
        world.access.require_act_as(principal, email)
    if world.project.owns(email) and ACCOUNTS.get(world.store, email) is None:
        raise failed_precondition(f"Service account {email} does not exist.")
