"""Rules of Vertex AI, as far as they can be known before sending: the table.

Pure, and quick to import: the submit command checks a submission with it, as preview has checked the usual values.
"""
