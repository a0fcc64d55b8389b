#!/bin/sh
# The exit status tells a script how a command ended, as --help promises: 0 held, 1 broken, 2 bad input.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

expect() {
    wanted=$1 && shift
    got=0
    "$TACTUS" "$@" >said 2>&1 || got=$?
    [ "$got" -eq "$wanted" ] || { echo "tactus $*: exit status $got instead of $wanted"; cat said; exit 1; }
}

cat >fits.toml <<'END'
[system]
name = "fits"
cores = 1
duration = "100 ms"

[policy]
kind = "partitioned-edf"

[[task]]
name = "half"
core = 0
period = "10 ms"
execution = "5 ms"
END
{ sed 's/fits/late/' fits.toml && sed -n '/task/,$p' fits.toml | sed 's/half/most/; s/"5 ms"/"7 ms"/'; } >late.toml
sed 's/cores = 1/cores = 99/' fits.toml >broken.toml

expect 0 --help
expect 0 check fits.toml
expect 0 simulate fits.toml
expect 0 report fits.toml
expect 0 trace fits.toml --draw
expect 1 check late.toml
expect 1 simulate late.toml
expect 1 report late.toml
expect 2 check broken.toml
expect 2 check absent.toml
expect 2 simulate fits.toml --duration soon
expect 2 report absent
expect 2 no-such-command
# Without an emulator, and without a compiler, the machine is what is lacking.
mkdir bin
(PATH=$PWD/bin && expect 3 run fits.toml)
