"""The package itself: types, documentation, examples."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import tactus
from tactus import _native

HERE = Path(__file__).resolve().parent.parent


def run(*words: str) -> str:
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=HERE / "tests")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_package_tests_and_examples_pass_the_strict_checks_of_mypy() -> None:
    pytest.importorskip("mypy")
    run("-m", "mypy", "--strict", "--ignore-missing-imports", "-p", "tactus")
    files = [str(path) for folder in ("tests", "examples") for path in sorted((HERE / folder).glob("*.py"))]
    run("-m", "mypy", "--strict", "--ignore-missing-imports", *files)


def test_the_types_are_those_of_the_compiled_module() -> None:
    pytest.importorskip("mypy")
    run("-m", "mypy.stubtest", "--ignore-missing-stub", "tactus._native")


def test_everything_that_is_offered_is_documented() -> None:
    for module in (tactus, tactus.tests, tactus.generate, tactus.mixed, tactus.reservations):
        assert module.__doc__ and len(module.__doc__) > 80, module
        for name in module.__all__:
            if name.startswith("__") or inspect.ismodule(getattr(module, name)):
                continue
            assert getattr(module, name).__doc__, f"{module.__name__}.{name}"
    assert tactus.__version__ == _native.__version__


@pytest.mark.parametrize("example", sorted((HERE / "examples").glob("*.py")), ids=lambda path: path.name)
def test_an_example_runs_as_it_stands(example: Path, tmp_path: Path) -> None:
    pytest.importorskip("polars")
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 10
