"""Exit codes: a code keeps its meaning. # N8"""

from slipway import errors
from slipway.errors import SlipwayError


def test_each_kind_of_error_has_its_code() -> None:
    kinds = (one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, SlipwayError))
    assert {one.__name__: one.exit_code for one in kinds} == {
        "SlipwayError": 1,
        "ConfigError": 2,
        "AuthError": 3,
        "ResourceError": 4,
        "PolicyError": 5,
        "Cancelled": 8,
        "Timeout": 9,
        "AnswerUnknown": 75,
        "Interrupted": 130,
    }
