#!/bin/sh
# Python for the engine's language host, which has pip list all packages before every run: a tenth of a preview. In a
# virtual environment that list stands until one is installed or removed there, so it is kept beside them.
own=$(sed -n "s/^[^#]*virtualenv[\"']*: *[\"']*\([^\"',}#]*[^\"',}# ]\).*/\1/p" Pulumi.yaml 2>/dev/null)
if [ -n "$own" ]
then  # This language host does not look at it.
    python=$own/bin/python3
    if [ ! -x "$python" ]
    then
        echo "error: Pulumi.yaml names the virtual environment $own, and it has no Python" >&2
        echo "  fix: python3 -m venv $own, with what the program needs" >&2
        exit 1
    fi
else
    python=$(command -v python3) || exec python3 "$@"
fi
home=${python%/*}/..
if [ "$*" = "-m pip list -v --format json" ] && grep -qs "^include-system-site-packages *= *false" "$home/pyvenv.cfg"
then
    kept=$home/.packages.json
    draft=$kept.$$
    for packages in "$home"/lib/python3*/site-packages; do
        [ "$kept" -nt "$packages" ] && exec cat "$kept"
    done
    # As old as its beginning: what is installed meanwhile makes it out of date. Not `:`, which would end the shell where
    # nothing can be written.
    if true >"$draft.began" && "$python" "$@" >"$draft" && touch -r "$draft.began" "$draft" && mv "$draft" "$kept"
    then
        rm -f "$draft.began"
        exec cat "$kept"
    fi 2>/dev/null
    rm -f "$draft.began" "$draft"
fi
exec "$python" "$@"
