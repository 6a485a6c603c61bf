from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from local.plugin.values import COMPUTED, UNKNOWN, Archive, Asset, decode, encode, is_empty

_LEAVES = (
    st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(max_size=20).filter(lambda text: len(text) != 36)
    | st.just(UNKNOWN)
    | st.builds(Asset, hash=st.just("h"), text=st.text(max_size=5))
    | st.builds(Archive, hash=st.just("h"), path=st.just("/x"))
)
_NAMES = st.text("abcdef-_.", min_size=1, max_size=8)
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3), max_leaves=8
)


@given(st.dictionaries(_NAMES, _VALUES, max_size=4), st.data())
def test_what_is_sent_comes_back_with_its_secrets(values: dict[str, Any], data: st.DataObject) -> None:
    secrets = data.draw(st.sets(st.sampled_from(sorted(values)))) if values else set()
    back = decode(encode(values, secrets))
    assert back.values == values
    assert back.secrets == secrets


def test_a_secret_deep_inside_makes_its_property_secret() -> None:
    struct = encode({"labels": {"a": "b"}, "plain": 1})
    struct.fields["labels"].struct_value.fields["a"].CopyFrom(encode({"x": "b"}, {"x"}).fields["x"])
    back = decode(struct)
    assert back.values == {"labels": {"a": "b"}, "plain": 1}
    assert back.secrets == {"labels"}


def test_what_the_cloud_will_fill_in_is_sent_as_unknown() -> None:
    assert decode(encode({"state": COMPUTED})).values == {"state": UNKNOWN}


def test_nulls_are_left_out() -> None:
    assert decode(encode({"a": None, "b": {"c": None}})).values == {"b": {}}


def test_empty_is_what_the_cloud_can_not_tell_from_nothing() -> None:
    nothing: list[Any] = [None, "", 0, False, [], {}, {"a": {"b": 0}, "__defaults": ["a"]}]
    something: list[Any] = ["x", 1, True, [0], {"a": 1}, UNKNOWN, Asset()]
    assert all(is_empty(value) for value in nothing)
    assert not any(is_empty(value) for value in something)
