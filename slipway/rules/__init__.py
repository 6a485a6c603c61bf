"""What Vertex AI allows, as far as it can be known before sending: one table of ways, one table of rules.

Pure, and quick to import: the submit command checks with it what preview has checked for the usual values.
"""

from slipway.rules.rule import Breach, Rule
from slipway.rules.subject import Subject
from slipway.rules.table import TABLE, check
from slipway.rules.ways import WAYS, Way

__all__ = ["TABLE", "WAYS", "Breach", "Rule", "Subject", "Way", "check"]
