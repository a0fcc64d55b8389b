#!/bin/sh
# Does a study on Dask lose anything when a worker dies? Runs FILE with threads and then with three worker processes, of which one is killed
# on the way, and compares all that both leave, byte for byte.
#
#     lab/studies/dask-trial.sh TACTUS PYTHON FILE FOLDER [option of the study ...]
#
# TACTUS is the command's program, PYTHON one that has `dask[distributed]`, FOLDER a new folder to work in.
# Ends with 0 if a worker was killed while there was work to do and the results are the same.
set -eu

tactus=$1 python=$2 file=$3 folder=$4
shift 4
[ ! -e "$folder" ] || { echo "$folder is there already" >&2; exit 2; }
mkdir -p "$folder"

"$tactus" study schedulability "$file" --out "$folder/threads" "$@" > "$folder/threads.log" 2>&1
tail -n 2 "$folder/threads.log"

"$tactus" study schedulability "$file" --out "$folder/dask" --engine dask --python "$python" --workers 3 "$@" \
    > "$folder/dask.log" 2>&1 &
study=$!
chunks=$(find "$folder/threads/chunks" -type f | wc -l)
worker=
while kill -0 "$study" 2>/dev/null; do
    done=$(find "$folder/dask/chunks" -type f 2>/dev/null | wc -l)
    worker=$(sed -n 's/^workers *processes *\([0-9]*\).*/\1/p' "$folder/dask.log")
    if [ "$done" -ge $((chunks / 5)) ] && [ -n "$worker" ]; then
        kill -9 "$worker"
        echo "killed worker $worker after $done of $chunks chunks"
        break
    fi
    sleep 0.1
done
wait "$study"
tail -n 2 "$folder/dask.log"
[ -n "$worker" ] && [ "$done" -lt "$chunks" ] || { echo "the study ended before a worker could be killed" >&2; exit 1; }

# The driver's own text and the lines about speed are no results.
same=0
for left in $(cd "$folder/threads" && find . -type f); do
    cmp "$folder/threads/$left" "$folder/dask/$left"
    same=$((same + 1))
done
more=$(cd "$folder/dask" && find . -type f ! -name dask_driver.py | wc -l)
[ "$more" -eq "$same" ] || { echo "$same files with threads, $more with Dask" >&2; exit 1; }
echo "$same files are the same, byte for byte"
