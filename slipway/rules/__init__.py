"""Rules of Vertex AI, as far as they can be known before sending: the table.

Pure, and quick to import: the submit command checks with it what preview has checked for the usual values.
"""
