"""What the book's page on the package shows runs, and gives what the page says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def blocks() -> list[str]:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)


def test_the_blocks_of_the_page_run(monkeypatch: pytest.MonkeyPatch) -> None:
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {"polars": polars, "pyarrow": pyarrow}
    first, second = blocks()
    exec(first, names)  # noqa: S102
    exec(second, names)  # noqa: S102
    said = re.search(r"(tests\.responses\(.*\))\s+# (\[.*\])", first)
    assert said is not None
    assert eval(said[1], names) == eval(said[2])  # noqa: S307
