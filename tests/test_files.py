"""Are samples read as they were written, and bad lines found?"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from river_pufe import PUFEClassifier, files

NAMES = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), min_size=1, max_size=8)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(path, **parameters):
    with files.Reader(path, **parameters) as reader:
        return [(line.number, line.error or line.record) for line in reader]


def test_csv(tmp_path):
    path = write(tmp_path / "a.csv", "t,x,ok\n2024-01-01,1.5,true\n2024-01-02,,FALSE\n\n, 3 ,\n")
    assert read(path) == [
        (2, {"t": "2024-01-01", "x": 1.5, "ok": True}),
        (3, {"t": "2024-01-02", "ok": False}),
        (5, {"x": 3.0}),
    ]


def test_jsonl(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"x": 1.5, "y": null}\n\n{"x": NaN, "y": "", "z": [1]}\n{"i": 7, "b": true}')
    assert read(path) == [(1, {"x": 1.5}), (3, {"z": [1]}), (4, {"i": 7, "b": True})]


@given(st.lists(st.dictionaries(NAMES, NUMBERS, max_size=4), max_size=6))
def test_json_comes_back(tmp_path_factory, records):
    path = write(tmp_path_factory.mktemp("json") / "a.jsonl", "\n".join(map(json.dumps, records)))
    assert [record for _, record in read(path)] == records


@given(st.lists(st.lists(st.one_of(st.none(), NUMBERS), min_size=2, max_size=2), max_size=6), st.sampled_from(",;\t"))
def test_csv_comes_back(tmp_path_factory, rows, delimiter):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows([["a b", 'c"'], *rows])
    path = write(tmp_path_factory.mktemp("csv") / "a.csv", text.getvalue())
    expected = [{k: v for k, v in zip(("a b", 'c"'), row) if v is not None} for row in rows]
    assert [record for _, record in read(path)] == expected


@pytest.mark.parametrize(("delimiter", "value"), [(";", 1.5), ("\t", "1,5")])
def test_decimal_commas(tmp_path, delimiter, value):
    path = write(tmp_path / "a.csv", f"x{delimiter}y{delimiter}z\n1,5{delimiter}2.5{delimiter}1,2,3\n")
    assert read(path) == [(2, {"x": value, "y": 2.5, "z": "1,2,3"})]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bzip2", "xz"])
@pytest.mark.parametrize("name", ["a.csv", "a", "a.jsonl.gz", "a.csv.of.mine"])
def test_compressed_whatever_the_name(tmp_path, compress, name):
    text = '{"x": 1.5}\n' if ".jsonl" in name else "x\n1.5\n"
    path = write(tmp_path / name, compress(text.encode()))
    assert [record for _, record in read(path)] == [{"x": 1.5}]
    with files.Reader(path) as reader:
        assert reader.size == path.stat().st_size
        list(reader)
        assert reader.position == reader.size


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", "x,y\n1,2\n", "csv"),
        ("a.TSV", "x\ty\n1\t2\n", "csv"),
        ("a.ndjson", "x", "jsonl"),
        ("a.dat", '  {"x": 1}\n', "jsonl"),
        ("a.dat", "x,y\n", "csv"),
        ("a", "", "csv"),
    ],
)
def test_format_is_guessed(tmp_path, name, text, expected):
    with files.Reader(write(tmp_path / name, text)) as reader:
        assert reader.format == expected


def test_format_can_be_given(tmp_path):
    path = write(tmp_path / "a.csv", '{"x": 1}\n')
    assert read(path, format="jsonl") == [(1, {"x": 1})]
    with pytest.raises(ValueError, match="format is one of jsonl, csv"):
        files.Reader(path, format="xml")


def test_texts_for_absent_values(tmp_path):
    path = write(tmp_path / "a.csv", "x,y\nNA,?\n1,NA\n")
    assert read(path, na=["NA", "?"]) == [(2, {}), (3, {"x": 1.0})]
    path = write(tmp_path / "a.jsonl", '{"x": "NA", "y": 1}\n')
    assert read(path, na=["NA"]) == [(1, {"y": 1})]


@pytest.mark.parametrize("cell", ["nan", "NaN", " ", ""])
def test_absent_cells(tmp_path, cell):
    assert read(write(tmp_path / "a.csv", f"x,y\n1,{cell}\n")) == [(2, {"x": 1.0})]


def test_numbers_as_python_alone_reads_them_are_texts(tmp_path):
    assert read(write(tmp_path / "a.csv", "x\n1_000\n")) == [(2, {"x": "1_000"})]


def test_byte_order_marks_and_windows_ends(tmp_path):
    assert read(write(tmp_path / "a.csv", b"\xef\xbb\xbfx,y\r\n1,2\r\n")) == [(2, {"x": 1.0, "y": 2.0})]
    assert read(write(tmp_path / "a.jsonl", b'\xef\xbb\xbf{"x": 1}\r\n')) == [(1, {"x": 1})]


def test_bad_lines_of_a_csv_are_found_and_passed(tmp_path):
    text = b'x,y\n1\n1,2,3\n"a"b,1\n1,\xff\n"two\nlines",3\n5,6\n7,"8\n'
    found = read(write(tmp_path / "a.csv", text))
    assert [number for number, _ in found] == [2, 3, 4, 5, 6, 8, 9]
    assert found[0][1] == "has 1 cell, but there are 2 columns"
    assert found[1][1] == "has 3 cells, but there are 2 columns"
    assert found[2][1].startswith("is not csv: ")
    assert found[3][1] == "is not UTF-8 text"
    assert found[4][1] == {"x": "two\nlines", "y": 3.0}
    assert found[5][1] == {"x": 5.0, "y": 6.0}
    assert found[6][1].startswith("is not csv: ")


def test_a_quote_that_is_never_closed_takes_a_part_of_the_file_only(tmp_path):
    rows = "".join(f"{i},{i}\n" for i in range(40_000))
    found = read(write(tmp_path / "a.csv", f'x,y\n1,"2\n{rows}'))
    assert "is a quote never closed?" in found[0][1]
    assert found[-1] == (40_002, {"x": 39_999.0, "y": 39_999.0})


def test_bad_lines_of_json_are_found_and_passed(tmp_path):
    deep = b"[" * 100_000
    lines = [
        b"{",
        b"[1]",
        b"7",
        b'"text"',
        b"null",
        b'{"x": "\xff"}',
        deep,
        b'{"x": ' + b"9" * 5000 + b"}",
        b'{"x": 1}',
    ]
    found = read(write(tmp_path / "a.jsonl", b"\n".join(lines)))
    assert [number for number, _ in found] == list(range(1, 10))
    assert found[0][1].startswith("is not JSON: ")
    assert found[1][1] == "is a list, not an object {…}"
    assert all(isinstance(error, str) for _, error in found[:8])
    assert found[8][1] == {"x": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04...", "zip archive"),
        (b"\x28\xb5\x2f\xfd...", "zstd"),
        (b"PAR1...", "parquet"),
        ("x,y\n1,2\n".encode("utf-16"), "UTF-16"),
        (b"[1, 2]", "JSON array"),
        (b"x,y,x\n1,2,3\n", "more than one column named 'x'"),
        (b"\x1f\x8bnot gzip", "cannot be read"),
    ],
)
def test_files_of_another_kind_are_refused_with_advice(tmp_path, content, message):
    with pytest.raises(files.FileError, match=message):
        files.Reader(write(tmp_path / "a", content))


def test_what_cannot_be_opened(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(files.FileError, match=str(path)):
            files.Reader(path)


def test_a_compressed_file_that_breaks_off_yields_what_it_has(tmp_path):
    whole = gzip.compress(b"x\n" + b"".join(f"{i / 7}\n".encode() for i in range(20_000)))
    found = []
    with (
        files.Reader(write(tmp_path / "a.csv.gz", whole[: len(whole) // 2])) as reader,
        pytest.raises(files.FileError, match=r"breaks off after line \d+"),
    ):
        found.extend(reader)
    assert len(found) > 1000


def test_columns_without_a_name_get_one(tmp_path):
    with files.Reader(write(tmp_path / "a.csv", ",x\n0,1\n")) as reader:
        assert reader.columns == ["column 1", "x"]


def test_standard_input_may_be_compressed(tmp_path):
    code = "from river_pufe import files\nprint([line.record for line in files.Reader('-')])"
    done = subprocess.run([sys.executable, "-c", code], input=gzip.compress(b"x\n1\n"), capture_output=True, check=True)
    assert done.stdout.strip() == b"[{'x': 1.0}]"


def test_one_hot_strings_tell_other_texts_from_absence():
    encoder = files.OneHotStrings()
    encoder.learn_one({"city": "Rome"})
    encoder.learn_one({"city": "Oslo", "rain": 1.0})
    assert encoder.transform_one({"city": "Oslo"}) == {"city=Rome": 0.0, "city=Oslo": 1.0}
    assert encoder.transform_one({"city": "Bonn"}) == {"city=Rome": 0.0, "city=Oslo": 0.0}
    assert encoder.transform_one({"rain": 2.0, "wet": True}) == {"rain": 2.0, "wet": True}


def test_one_hot_strings_are_bounded():
    encoder = files.OneHotStrings(max_texts=3)
    for i in range(100):
        encoder.learn_one({"id": f"user {i}"})
    assert len(encoder.transform_one({"id": "user 99"})) == 3
    with pytest.raises(ValueError, match="max_texts"):
        files.OneHotStrings(max_texts=0)


def test_one_hot_strings_in_a_pipeline():
    model = files.OneHotStrings() | PUFEClassifier()
    for i in range(200):
        model.learn_one({"city": "Rome" if i % 2 else "Oslo"}, bool(i % 2))
    assert model.predict_one({"city": "Rome"}) is True
    assert model.predict_one({"city": "Oslo"}) is False


@pytest.mark.parametrize(
    ("targets", "task"),
    [
        (["a"], "classification"),
        ([True], "classification"),
        ([1.5], "regression"),
        ([1, 2.0, 2.5], "regression"),
        ([0, 1] * 10, None),
        ([0.0, 1.0] * 50, "classification"),
        (range(11), "regression"),
        ([0, 1, "none"], "classification"),
        ([math.inf], "regression"),
        ([], None),
    ],
)
def test_task_is_guessed(targets, task):
    assert files.guess_task(list(targets)) == task


@pytest.mark.parametrize(("value", "label"), [(1.0, 1), (2.5, 2.5), ("a", "a"), (True, True), (math.inf, math.inf)])
def test_whole_numbers(value, label):
    assert files.whole(value) == label
    assert type(files.whole(value)) is type(label)
