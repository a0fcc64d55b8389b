#!/bin/sh
# Counts what monitors cost a service, in instructions of the host, with valgrind's callgrind. Where the figures are kept and
# what they mean: docs/measured/monitor.md.
set -eu
cd "$(dirname "$0")/../.."
command -v valgrind >/dev/null || { echo "valgrind is not installed; install it, e.g. apt install valgrind" >&2; exit 2; }
cargo build --quiet --release -p tactus-monitor --example services --example step
out=$(mktemp -d)
trap 'rm -r "$out"' EXIT

# Instructions of one of 1,000 calls of the functions of that name: collected 'NAME' EXAMPLE WORDS...
collected() {
    name=$1 example=$2
    shift 2
    valgrind --tool=callgrind --callgrind-out-file="$out/out" --toggle-collect="$name" "target/release/examples/$example" "$@" \
        2>&1 | awk '/Collected/ { printf "%.0f", $NF / 1000 }'
}

echo "one step:"
for encoding in plain row-per-word packed-words bit-string timed; do
    echo "  $encoding $(collected '*one_step*' step $encoding 1000)"
done
echo "a service without monitoring, that called through a pointer, with a function that does nothing, with a monitor of property 2:"
for service in receive send activate; do
    line="  $service"
    for watched in direct pointer 0 1; do
        line="$line $(collected '*measured_*' services $service plain $watched 1000)"
    done
    echo "$line"
done
echo "an update of 0, 1, 2, 3, 4, 6, 8, 9 and 10 monitors, properties 2, 3 and 1 in turn:"
for encoding in plain row-per-word packed-words bit-string; do
    line="  $encoding"
    for many in 0 1 2 3 4 6 8 9 10; do
        line="$line $(collected '*measured_*' services update $encoding $many 1000)"
    done
    echo "$line"
done
