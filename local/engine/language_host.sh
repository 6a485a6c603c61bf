#!/bin/sh
# The language host, ended with its engine. By itself it notices only after minutes that the engine was killed.
# Both are of one process group, whose id is this process's: so the engine starts every plugin.
engine=$PPID
host=$$
# A killed engine stays a zombie until whoever started it has asked for its end.
alive() {
    kill -0 "$1" || return
    read -r stat <"/proc/$1/stat" || return 0
    case $stat in *") Z "*) return 1 ;; esac
}
(
    while alive "$host" && alive "$engine"; do sleep 1; done
    # The host may have noticed first, and have left the program alone.
    alive "$engine" || kill -s KILL -- "-$host"
) </dev/null >/dev/null 2>&1 &
exec "$0-host" "$@"
