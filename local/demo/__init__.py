"""The demo: the journey of a newcomer, from an empty machine to a finished distributed job."""
