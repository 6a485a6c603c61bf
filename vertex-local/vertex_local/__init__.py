"""The cloud on the laptop: Google's APIs over REST on loopback, with state that survives a restart and a kill.

It knows the service's rules from Google's documents, and never from a client that is tried on it.
"""
