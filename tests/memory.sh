#!/usr/bin/env bash
# Tests of unsafe code that needs no machine: under valgrind's memcheck, and under Miri where the toolchain has it.
#
#   tests/memory.sh
#
# Looked at are the unit tests of locks and rings (crates/sync) and of what every component is linked with (os/rt). What steps through instructions with the processor's trap flag is left out: neither tool has such a flag.
set -euo pipefail
cd "$(dirname "$0")/.."
rooms=(-p tactus-sync -p tactus-rt)

command -v valgrind >/dev/null || { echo "valgrind is missing: apt-get install valgrind" >&2; exit 3; }
programs=$(cargo test "${rooms[@]}" --lib --no-run --message-format=json 2>/dev/null | grep -o '"executable":"[^"]*"' | cut -d'"' -f4)
[ -n "$programs" ] || { echo "the tests do not compile: cargo test ${rooms[*]} --lib --no-run" >&2; exit 1; }
for program in $programs; do
    echo "memcheck  ${program##*/}"
    valgrind --quiet --error-exitcode=1 "$program" --quiet --test-threads=1
done

if cargo miri --version >/dev/null 2>&1; then
    cargo miri test "${rooms[@]}" --lib
else
    echo "miri      left out: this toolchain has none (rustup +nightly component add miri)"
fi
