"""What holds for every test: how hypothesis runs, and that an interrupt is one."""

import signal

from hypothesis import settings

# Without deadlines, because a test that is slow on a busy machine shows nothing.
settings.register_profile("slipway", deadline=None)
settings.load_profile("slipway")

# A shell starts its background jobs with interrupts ignored, and every process that they start inherits that: a test
# that interrupts one would wait for ever. What is handled here is the default again in what is started.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
