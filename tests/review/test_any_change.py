"""Any edits of a stack file together: every part is compared, and each finding is as readable as alone. # N5 # N8"""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slipway.model.findings.kinds import KINDS
from tests.review.case import BUSY, CALM, Case, Edit
from tests.review.checkout import text
from tests.review.play import play
from tests.review.test_stack_fields import EDITS, GIVEN

ALONE = {name: edits if isinstance(edits, tuple) else (edits,) for name, edits in EDITS.items() if name not in GIVEN}
NAMES = st.lists(st.sampled_from(sorted(ALONE)), min_size=2, max_size=4, unique=True)


def fitting(names: list[str]) -> tuple[Edit, ...]:
    """Return the edits that still find their place after the others."""
    done: tuple[Edit, ...] = ()
    for name in names:
        for edit in ALONE[name]:
            if text(edit.file, done).count(edit.old) == 1:
                done = (*done, edit)
    return done


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(names=NAMES, busy=st.booleans())
def test_any_edits_together_are_compared(names: list[str], busy: bool) -> None:
    review = play(Case("any", fitting(names), world=BUSY if busy else CALM))
    assert not [part for part in review.incomplete if "could not be compared" in part]
    assert len({finding.key for finding in review.findings}) == len(review.findings)
    for finding in review.findings:
        # An error of the program is quoted as it is.
        assert KINDS[finding.kind].failed or 0 < len(finding.sentence.split()) <= 30, finding.sentence
        assert str(finding.subject) not in finding.sentence
