"""A review as a whole: nothing changed, nothing said. # N5"""

from slipway.review.review import review

from .builders import change, cluster, facts, job, living, template


def test_nothing_changed_nothing_said() -> None:
    same = facts(cluster(), template())
    assert review(change(same, same, clusters=[living(cluster(), used=1)], jobs=[job(on=cluster())])).consequences == ()


def test_nothing_deployed_and_nothing_declared() -> None:
    assert review(change(None, None)).consequences == ()
