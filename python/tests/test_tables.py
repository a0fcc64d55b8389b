"""Tables go to every library of data frames through the Arrow interface, and hold the same there."""

import pytest

import tactus


def table() -> tactus.Table:
    tasks = [tactus.Task("1 ms", "10 ms", name="a", core=1), tactus.Task("2 ms", "20 ms", "15 ms", name="b")]
    return tactus.TaskSet(tasks).table()


def test_a_table_is_lists_by_name_without_any_library() -> None:
    assert len(table()) == 2
    assert table()["name"] == ["a", "b"]
    assert table().to_dict()["core"] == [1, None]
    assert table()["deadline_ns"] == [10_000_000, 15_000_000]
    with pytest.raises(KeyError, match="colour; there are name, execution_ns"):
        table()["colour"]


def test_polars_takes_a_table_as_it_is() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(table())
    assert frame.to_dict(as_series=False) == table().to_dict()
    assert frame.equals(table().to_polars())


def test_pyarrow_takes_a_table_as_it_is() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    found = pyarrow.table(table())
    assert found.to_pydict() == table().to_dict() == table().to_arrow().to_pydict()


def test_pandas_takes_a_table() -> None:
    pytest.importorskip("pandas")
    frame = table().to_pandas()
    assert list(frame["name"]) == ["a", "b"]
    assert int(frame["period_ns"].sum()) == 30_000_000


def test_a_stream_can_be_taken_more_than_once_and_left_unused() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    made = table()
    made.__arrow_c_stream__()
    assert pyarrow.table(made).equals(pyarrow.table(made))
