"""The code in the replicas of probes: a few lines of plain Python that log their beginning and their end."""

CODE = """
import os, signal, sys, time
def say(text): os.write(1, f"probe {text}\\n".encode())  # print is not reentrant: a signal may interrupt it
def term(number, frame):
    say("sigterm")
    while linger:
        time.sleep(0.25)
        say("beat")
    sys.exit(143)
does, value = sys.argv[1], int(sys.argv[2])
linger = does == "linger"
signal.signal(signal.SIGTERM, term)
say("begins")
if does == "exit":
    time.sleep(float(sys.argv[3]) if len(sys.argv) > 3 else 0)
    say("ends")
    os._exit(value)
time.sleep(value)
"""
"""`hold N` sleeps N seconds; `exit CODE [SECONDS]` ends with that code; `linger N` sleeps as well and, asked to end by
SIGTERM, says so four times a second until it is killed."""
