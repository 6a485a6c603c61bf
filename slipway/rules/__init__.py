"""What Vertex AI allows, as far as it can be known before sending: the table of rules.

Pure, and quick to import: the submit command checks with it what preview has checked for the usual values.
"""
