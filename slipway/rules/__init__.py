"""What Vertex AI allows, as far as it can be known before sending: the table of rules.

Pure, and quick to import: the submit command checks with it what preview has checked for the usual values.
"""

from slipway.rules.rule import Breach, Rule
from slipway.rules.subject import Subject
from slipway.rules.table import TABLE, check

__all__ = ["TABLE", "Breach", "Rule", "Subject", "check"]
