"""Hands the chunks of a study to the workers of a Dask cluster and keeps what they answer.

Started by `tactus study schedulability --engine dask`; not meant to be started by hand. A worker runs
`tactus study chunk` and answers its output, so only this process writes. A worker that dies loses nothing but the
chunks that it had under way: the scheduler gives them to others.
"""
import json
import os
import subprocess
import sys


def work(job, chunks):
    """On a worker: the texts of some chunks, in the order asked for."""
    done = subprocess.run(
        [job["tactus"], "study", "chunk", job["file"], *map(str, chunks), *job["options"]],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"{job['tactus']} ended with {done.returncode}")
    # Each chunk begins with its own first line.
    parts = done.stdout.split("tactus-study ")[1:]
    return [(chunk, "tactus-study " + part) for chunk, part in zip(chunks, parts, strict=True)]


def main():
    job = json.load(sys.stdin)
    try:
        import dask
        from distributed import Client, LocalCluster, as_completed
    except ImportError as error:
        sys.exit(f"{error}: make an environment with\n  python3 -m venv dask && dask/bin/pip install 'dask[distributed]'\n"
                 "and name it with --python dask/bin/python")
    # A chunk is the same whoever works on it, so trying again is always right.
    dask.config.set({"distributed.scheduler.allowed-failures": 100})
    cluster = None
    if job["scheduler"] is None:
        cluster = LocalCluster(n_workers=job["workers"], threads_per_worker=1, processes=True, dashboard_address=None)
    client = Client(job["scheduler"] or cluster)
    try:
        pids = client.run(os.getpid)
        print("workers", *sorted(pids.values()), flush=True)
        size = job["batch"]
        batches = [job["chunks"][n:n + size] for n in range(0, len(job["chunks"]), size)]
        futures = [client.submit(work, job, batch, pure=False, retries=5) for batch in batches]
        done = 0
        for future in as_completed(futures):
            for chunk, text in future.result():
                path = os.path.join(job["folder"], "chunks", f"{chunk}.txt")
                with open(path + ".half", "w", encoding="ascii", newline="\n") as half:
                    half.write(text)
                os.replace(path + ".half", path)
                done += 1
            print("done", done, flush=True)
    finally:
        client.close()
        if cluster is not None:
            cluster.close()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
