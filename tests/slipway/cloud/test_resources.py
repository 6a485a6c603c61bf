"""Jobs as the service tells of them, whoever made them."""

from slipway.cloud.resources import CustomJob


def test_a_name_is_one_line_and_commands_no_terminal() -> None:
    """The service takes any text for a name, and everybody's jobs are listed together."""
    assert CustomJob.read({"displayName": "läuft 🚀 \x1b[31mred\nrm -rf"}).display_name == "läuft 🚀 ?[31mred?rm -rf"
