"""Builds the wheel, installs it into an environment of its own, away from the sources, and runs the tests there.

    python3 python/check.py [FOLDER]

FOLDER (target/python if not given) keeps what was compiled, the wheel and the environment. The environment sees what is installed
beside the python that runs this, be it in an environment of its own: pytest must be, mypy, polars, pandas, pyarrow and simso may be, and tests that need a
missing one are left out. Nothing is fetched.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent


def run(*words: object, **more: object) -> None:
    done = subprocess.run([str(word) for word in words], check=False, **more)  # type: ignore[call-overload]
    if done.returncode != 0:
        sys.exit(done.returncode)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent / "target" / "python").resolve()
    wheels, place = folder / "wheels", folder / "venv"
    shutil.rmtree(wheels, ignore_errors=True)
    # A test asks whether it is right, not whether it is fast: the compiler takes no care.
    target = {**os.environ, "CARGO_TARGET_DIR": str(folder / "build"), "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0"}
    run("maturin", "build", "--quiet", "--release", "--locked", "--out", wheels, cwd=HERE, env=target)
    (wheel,) = wheels.glob("*.whl")
    venv.create(place, clear=True, with_pip=False, system_site_packages=True)
    python = place / "bin" / "python"
    site = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True)
    # A wheel without dependencies is installed by unpacking it.
    shutil.unpack_archive(wheel, site.stdout.strip(), "zip")
    if sys.prefix != sys.base_prefix:
        # An environment sees what the system has, not what another environment has.
        Path(site.stdout.strip(), "tools.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    # -P: the folder of the sources is not on the path.
    run(python, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", HERE / "tests", cwd=folder)


if __name__ == "__main__":
    main()
