"""What stands in a Parquet file beside its rows: nothing."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinqa.dataset.parquet import ShardedWriter, compact


def coded(codes: list[int | None], values: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(values))


def one_file(path: Path, array: pa.DictionaryArray) -> pq.ColumnChunkMetaData:
    table = pa.table({"context": array})
    writer = ShardedWriter(path.parent, path.stem, table.schema, private=True, sharded=False)
    writer.write(table)
    (file,) = writer.close()
    return pq.ParquetFile(file).metadata.row_group(0).column(0)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=6).flatmap(
        lambda values: st.tuples(
            st.just(values),
            st.lists(st.none() | st.integers(0, len(values) - 1), max_size=12),
        )
    )
)
def test_a_dictionary_holds_what_occurs_once_and_in_order(
    made: tuple[list[str], list[int | None]],
) -> None:
    array = coded(made[1], made[0])
    small = compact(array)
    assert small.to_pylist() == array.to_pylist()
    in_order = dict.fromkeys(value for value in array.to_pylist() if value is not None)
    assert small.dictionary.to_pylist() == list(in_order)


@pytest.mark.parametrize("codes", [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [0, 2, 4]])
def test_no_memory_of_anything_else_gets_into_a_file(tmp_path: Path, codes: list[int]) -> None:
    # the writer of Arrow makes room for every value of a dictionary, also for one it has already,
    # and writes all of that room: whatever stood there before stands in the file
    values = ["left " * 400, "right " * 400] * 3
    own = one_file(tmp_path / "coded.parquet", coded(codes, values))
    distinct = list(dict.fromkeys(values[code] for code in codes))
    least = one_file(
        tmp_path / "least.parquet", coded([distinct.index(values[c]) for c in codes], distinct)
    )
    assert own.total_uncompressed_size == least.total_uncompressed_size
    paths = [tmp_path / f"{name}.parquet" for name in ("coded", "least")]
    assert paths[0].read_bytes() == paths[1].read_bytes()
