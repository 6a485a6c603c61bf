#!/bin/sh
# The language host, ended with its engine. By itself it notices only after minutes that the engine was killed.
# Both are of one process group, whose id is this process's: so the engine starts every plugin.
engine=$PPID
host=$$
(
    while kill -0 "$host" && kill -0 "$engine"; do sleep 1; done
    kill -0 "$host" && kill -s KILL -- "-$host"
) </dev/null >/dev/null 2>&1 &
exec "$0-host" "$@"
