#!/bin/sh
# A component of the user's that does not compile is bad input: exit status 2, with the place in the system file and
# the compiler's words.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r examples/control-loop "$folder/broken"
cd "$folder/broken"
root=$(dirname "$OLDPWD/x")
sed -i "s|path = \"\(\.\./\)*os|path = \"$root/os|" */Cargo.toml
echo 'this is not Rust' >>plant/src/main.rs
got=0
"$TACTUS" run control-loop.toml >said 2>&1 || got=$?
[ "$got" -eq 2 ] || { echo "exit status $got instead of 2"; cat said; exit 1; }
grep -q 'control-loop.toml:[0-9]' said
grep -q 'error' said
