"""Any edits of a stack file together: what is told of them holds whatever stands beside it. # N5 # N8"""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slipway.model.findings.finding import Grade
from slipway.reviewing.review import Review
from slipway.reviewing.told.cards import LONGEST, arranged
from slipway.reviewing.told.comment import comment
from slipway.reviewing.told.headline import plain_text
from tests.review.case import BUSY, CALM, Case, Edit
from tests.review.checkout import text
from tests.review.play import play
from tests.review.test_stack_fields import EDITS, GIVEN

ALONE = {name: edits if isinstance(edits, tuple) else (edits,) for name, edits in EDITS.items() if name not in GIVEN}
NAMES = st.lists(st.sampled_from(sorted(ALONE)), min_size=2, max_size=4, unique=True)
MOST_WORDS = 24
"""The words of a part: who is hit, and what happens."""


def fitting(names: list[str]) -> tuple[Edit, ...]:
    """Return the edits that still find their place after the others."""
    done: tuple[Edit, ...] = ()
    for name in names:
        for edit in ALONE[name]:
            if text(edit.file, done).count(edit.old) == 1:
                done = (*done, edit)
    return done


def told(review: Review) -> str:
    return f"{comment((review,))}\n{plain_text(review)}"


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(names=NAMES, busy=st.booleans())
def test_any_edits_together_are_told_in_whole_phrases(names: list[str], busy: bool) -> None:
    edits = fitting(names)
    review = play(Case("any", edits, world=BUSY if busy else CALM))
    assert not [part for part in review.incomplete if "could not be compared" in part]
    assert "{it}" not in told(review), "a name is missing"
    for part in review.consequences:
        assert part.does and len(part.phrase.split()) <= MOST_WORDS, part.phrase
        assert not part.does[0].isupper() or not part.who, part.phrase
        assert part.grade is Grade.NOTE or part.so or part.edits or part.details or part.instead or part.field, (
            part.phrase
        )
    for line in arranged((review,)).opened:
        assert len(line.told.split()) <= LONGEST + MOST_WORDS
