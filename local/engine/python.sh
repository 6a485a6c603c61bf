#!/bin/sh
# Python for the engine's language host, which has pip list all packages before every run: a tenth of a preview. In a
# virtual environment that list stands until one is installed or removed there, so it is kept beside them.
# This language host does not look at the project's own.
own=$(sed -n "s/^[^#]*virtualenv[\"']*: *[\"']*\([^\"',}#]*[^\"',}# ]\).*/\1/p" Pulumi.yaml 2>/dev/null)
# uv's own is .venv, if the file names none.
[ -n "$own" ] || own=$(sed -n "s/^[^#]*toolchain[\"']*: *[\"']*uv\([\"',} ].*\)\{0,1\}$/.venv/p" Pulumi.yaml 2>/dev/null)
python=${own:+$own/bin/python3}
[ -x "$python" ] || python=$(command -v python3) || exec python3 "$@"
home=${python%/*}/..
# List the packages of a virtual environment as pip does, also where uv has created it without pip.
list_packages() {
    for pip in "$home"/lib/python3*/site-packages/pip; do
        [ -d "$pip" ] && { "$python" -m pip list -v --format json; return; }
    done
    "$python" -c "
import json
from importlib.metadata import distributions

found = []
for package in distributions():
    where = str(package.locate_file(''))
    found.append({'name': package.metadata['Name'], 'version': package.version, 'location': where})
print(json.dumps(found))"
}
[ "$*" = "-m pip list -v --format json" ] || exec "$python" "$@"
if grep -qs "^include-system-site-packages *= *false" "$home/pyvenv.cfg"
then
    kept=$home/.packages.json
    draft=$kept.$$
    for packages in "$home"/lib/python3*/site-packages; do
        [ "$kept" -nt "$packages" ] && exec cat "$kept"
    done
    # As old as its beginning: what is installed meanwhile makes it out of date. Not `:`, which would end the shell where
    # nothing can be written.
    if true >"$draft.began" && list_packages >"$draft" && touch -r "$draft.began" "$draft" && mv "$draft" "$kept"
    then
        rm -f "$draft.began"
        exec cat "$kept"
    fi 2>/dev/null
    rm -f "$draft.began" "$draft"
    list_packages
    exit
fi
exec "$python" "$@"
