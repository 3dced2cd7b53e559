"""Are samples read as they were written, and bad lines found?"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import math
import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from river_pufe import PUFEClassifier, files
from river_pufe.files import opening, tables
from river_pufe.files.cells import Cells
from river_pufe.files.times import timestamp

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
        ("a.dat", "+1 1:0.5 7:2\n", "libsvm"),
        ("a.svm", "x", "libsvm"),
        ("a", "", "csv"),
    ],
)
def test_format_is_guessed(tmp_path, name, text, expected):
    with files.Reader(write(tmp_path / name, text)) as reader:
        assert reader.format == expected


def test_format_can_be_given(tmp_path):
    path = write(tmp_path / "a.csv", '{"x": 1}\n')
    assert read(path, format="jsonl") == [(1, {"x": 1})]
    with pytest.raises(ValueError, match="format is one of jsonl, csv, libsvm, parquet, not 'xml'"):
        files.Reader(path, format="xml")


@pytest.mark.parametrize("na", ["NA", "na", "-200", "-200.0", "false", "0,5"])
@pytest.mark.parametrize("written", ["{}", '"{}"'])
def test_whatever_stands_for_an_absent_value_does_so_in_every_cell(tmp_path, na, written):
    value = "-200.00" if na.startswith("-") else na
    path = write(tmp_path / "a.csv", f"x;y\n1;2\n{written.format(value)};1\n")
    assert read(path, na=[na])[1:] == [(3, {"y": 1.0})]
    path = write(tmp_path / "b.csv", f'x,y\n1,2\n"{value}",1\n')
    assert read(path, na=[na])[1:] == [(3, {"y": 1.0})]
    if not (na in ("NA", "na", "0,5") and written == "{}"):
        path = write(tmp_path / "a.jsonl", f'{{"x": {written.format(value)}, "y": 1}}\n')
        assert read(path, na=[na]) == [(1, {"y": 1})]


@pytest.mark.parametrize("cell", ["nan", "NaN", " ", ""])
def test_absent_cells(tmp_path, cell):
    assert read(write(tmp_path / "a.csv", f"x,y\n1,{cell}\n")) == [(2, {"x": 1.0})]


def test_numbers_as_python_alone_reads_them_are_strings(tmp_path):
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
    assert found[3][1].startswith("is not UTF-8: say --encoding latin-1")
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


@pytest.mark.parametrize("depth", range(850, 1001, 10))
def test_an_object_in_an_object_in_an_object(tmp_path, depth):
    """What is read may be nested too deeply to be flattened."""
    deep = '{"x": ' * depth + "1" + "}" * depth
    found = read(write(tmp_path / "a.jsonl", f'{deep}\n{{"x": 1}}\n'))
    assert found[0][1] in ("is nested too deeply", {".".join("x" * depth): 1})
    assert found[1][1] == {"x": 1}


def test_a_line_without_an_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "_LONGEST", 100)
    path = write(tmp_path / "a.jsonl.gz", gzip.compress(b'{"x": 1}\n' + b" " * 100_000))
    with files.Reader(path) as reader:
        lines = iter(reader)
        assert next(lines).record == {"x": 1}
        with pytest.raises(files.FileError, match=r"line 2 of .* is longer than 100 characters"):
            next(lines)


def test_tens_of_thousands_of_columns(tmp_path):
    """And others from the middle on, of which a few are named."""
    n = 50_000
    text = "".join(
        ",".join(f"{letter}{i}" for i in range(n)) + ",y\n" + ",".join(["1.5"] * n) + ",0\n" for letter in "ab"
    )
    first, note, second = read(write(tmp_path / "a.csv", text))
    assert len(first[1]) == len(second[1]) == n + 1
    assert note[1] == {}
    with files.Reader(tmp_path / "a.csv") as reader:
        told = [line.note for line in reader if line.note]
    assert len(told) == 1
    assert told[0].startswith("new header: with b0, b1, ")
    assert told[0].endswith(", … (50,000) and without a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, … (50,000)")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04...", "zip archive"),
        (b"\x28\xb5\x2f\xfd...", "zstd"),
        (b"PAR1...", "cannot be read: Parquet"),
        ("x,y\n1,2\n".encode("utf-16-le"), "if it is UTF-16, say --encoding utf-16-le"),
        ("x,y\n1,2\n".encode("utf-16-be"), "if it is UTF-16, say --encoding utf-16-be"),
        ("größe,y\n1,2\n".encode("latin-1"), "is not UTF-8: say --encoding latin-1"),
        (b"1,2\n3,4\n", "no names of columns in its first line, only numbers"),
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


def test_one_hot_strings_tell_other_strings_from_absence():
    encoder = files.OneHotStrings()
    encoder.learn_one({"city": "Rome"})
    encoder.learn_one({"city": "Oslo", "rain": 1.0})
    assert encoder.transform_one({"city": "Oslo"}) == {"city=Rome": 0.0, "city=Oslo": 1.0}
    assert encoder.transform_one({"city": "Bonn"}) == {"city=Rome": 0.0, "city=Oslo": 0.0}
    assert encoder.transform_one({"rain": 2.0, "wet": True}) == {"rain": 2.0, "wet": True}


def test_one_hot_strings_are_bounded():
    encoder = files.OneHotStrings(max_strings=3)
    for i in range(100):
        encoder.learn_one({"id": f"user {i}"})
    assert len(encoder.transform_one({"id": "user 99"})) == 3
    with pytest.raises(ValueError, match="max_strings"):
        files.OneHotStrings(max_strings=0)


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
        ([0, 1], "classification"),
        ([0.0, 1.0] * 50, "classification"),
        (range(11), "regression"),
        (["unknown", 20.5, 21.0], "regression"),
        ([1, "high", "low"], "classification"),
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


# Several files, and headers.


def told(path, **parameters):
    """What a reader says, line by line: values, a note or an error."""
    with files.Reader(path, **parameters) as reader:
        return [line.note or line.error or line.record for line in reader]


def test_several_files_are_read_one_after_another(tmp_path):
    first = write(tmp_path / "d1.csv", "x,y\n1,2\n")
    second = write(tmp_path / "d2.jsonl.gz", gzip.compress(b'{"x": 3, "z": 4}\n'))
    with files.Reader([first, second]) as reader:
        assert reader.size == first.stat().st_size + second.stat().st_size
        found = [(line.file, line.number, line.note or line.record) for line in reader]
        assert reader.position == reader.size
    assert found == [
        (str(first), 2, {"x": 1.0, "y": 2.0}),
        (str(second), 0, f"next file: {second}"),
        (str(second), 1, {"x": 3, "z": 4}),
    ]


def test_repeated_headers_are_passed(tmp_path):
    assert told(write(tmp_path / "a.csv", "t,x\nred,1\nt,x\nblue,2\n")) == [
        {"t": "red", "x": 1.0},
        "repeated header",
        {"t": "blue", "x": 2.0},
    ]


def test_a_new_header_holds_from_there_on(tmp_path):
    path = write(tmp_path / "a.csv", "t,x,y\n0,1,2\nt,y,z\n1,3,4\nt,y\n2,5\n")
    assert told(path) == [
        {"t": 0.0, "x": 1.0, "y": 2.0},
        "new header: with z and without x",
        {"t": 1.0, "y": 3.0, "z": 4.0},
        "new header: without z",
        {"t": 2.0, "y": 5.0},
    ]


ROWS = (
    "1,2,x",
    ",2.5,",
    "nan,-200,on",
    "1_0,1e3,TRUE",
    "3",
    "a,b,c",
    "a,c",
    '"7\n8",1,2',
    '"9"0,1,2',
    "\udcff,1,2",
    "#x,1,2",
)


@given(st.lists(st.sampled_from(ROWS)), st.sampled_from([1, 2, 7, 30, 10_000]), st.booleans())
def test_rows_read_together_are_those_read_one_by_one(rows, n_cells, comma):
    def read(n):
        lines = [line + "\n" for row in ["a,b,c", *rows] for line in row.split("\n")]
        try:
            yield from tables.CsvFile("a.csv", lines, Cells(["-200"], comma), n)
        except files.FileError as error:
            yield str(error)

    assert list(map(repr, read(n_cells))) == list(map(repr, read(1)))


@pytest.mark.parametrize("row", ["red,green", "color,red", "shape,color"])
def test_strings_are_no_new_header(tmp_path, row):
    text = f"color,shape\n{row}\n{row}\n"
    found = told(write(tmp_path / "a.csv", text))
    # All names there are, in another order, are a header; values that are like one name are not.
    is_header = set(row.split(",")) == {"color", "shape"}
    assert ("new header" in str(found[0])) == is_header or found[0] == dict(zip(("color", "shape"), row.split(",")))


def test_a_row_of_units_need_not_have_one_for_each_column(tmp_path):
    path = write(tmp_path / "a.csv", "temp,state\n°C,-\n20.5,ok\n")
    assert told(path) == ["row of units: °C, -", {"temp": 20.5, "state": "ok"}]
    path = write(tmp_path / "a.csv", "state,temp\nok,unknown\nok,20.5\n")
    assert told(path) == [{"state": "ok", "temp": "unknown"}, {"state": "ok", "temp": 20.5}]


def test_a_row_of_units_is_not_a_sample(tmp_path):
    path = write(tmp_path / "a.csv", "time,temp,wind\n,°C,m/s\n2024-01-01,20.5,3\n")
    assert told(path) == ["row of units: °C, m/s", {"time": "2024-01-01", "temp": 20.5, "wind": 3.0}]


@pytest.mark.parametrize("row", ["2024-01-01T00:00Z,unknown", "unknown,unknown", "a,b"])
def test_a_first_row_of_strings_is_a_sample_where_it_is_not_one_of_units(tmp_path, row):
    after = "c,d" if row == "a,b" else "2024-01-01T00:01Z,20.5"
    assert told(write(tmp_path / "a.csv", f"t,x\n{row}\n{after}\n"))[0] == dict(zip("tx", row.split(",")))


def test_annotated_csv_of_influxdb(tmp_path):
    text = (
        "#group,false,false,true\n#datatype,string,long,double\n#default,_result,,\n,result,table,_value\n"
        ",,0,20.5\n,,0,21.0\n\n#group,false,false,true\n#datatype,string,long,string\n#default,_result,,\n"
        ",result,table,state\n,,1,on\n"
    )
    assert told(write(tmp_path / "a.csv", text)) == [
        {"table": 0.0, "_value": 20.5},
        {"table": 0.0, "_value": 21.0},
        "new header: with state and without _value",
        {"table": 1.0, "state": "on"},
    ]


def test_comments_are_passed(tmp_path):
    path = write(tmp_path / "a.csv", "# logger 7\n\n# since 2024\nx,y\n1,2\n# pause\n3,4\n")
    assert read(path) == [(5, {"x": 1.0, "y": 2.0}), (7, {"x": 3.0, "y": 4.0})]


# Other formats and encodings.


def test_nested_json_is_flattened(tmp_path):
    text = '{"time": "t", "sensors": {"a": "21.1", "b": {"c": 2}, "d": null}, "label": {"fault": "true"}}\n'
    assert told(write(tmp_path / "a.jsonl", text)) == [
        {"time": "t", "sensors.a": 21.1, "sensors.b.c": 2, "label.fault": True}
    ]


def test_parquet(tmp_path):
    import pyarrow
    from pyarrow import parquet

    rows = [{"t": f"2024-01-0{i + 1}", "x": i / 2 if i else None, "s": {"a": i, "b": "7"}} for i in range(5)]
    path = tmp_path / "a.bin"
    parquet.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=2)
    assert read(path) == [
        (i + 1, {"t": f"2024-01-0{i + 1}", **({"x": i / 2} if i else {}), "s.a": i, "s.b": 7.0}) for i in range(5)
    ]
    with files.Reader(path) as reader:
        assert reader.columns == ["t", "x", "s"]
        list(reader)
        assert reader.position == reader.size


def test_parquet_needs_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(files.FileError, match=r"pip install \"river-pufe\[parquet\]\""):
        files.Reader(write(tmp_path / "a.parquet", b"PAR1"))


def test_libsvm(tmp_path):
    text = "+1 1:0.5 word:2 # first\n\n-1  7:1\n1 2\n0.5 1:-200\n"
    found = told(write(tmp_path / "a.libsvm", text), na=["-200"])
    assert found[:2] == [{"label": 1.0, "1": 0.5, "word": 2.0}, {"label": -1.0, "7": 1.0}]
    assert found[2].startswith("is not LIBSVM")
    assert found[3] == {"label": 0.5}


def test_a_line_of_libsvm_may_have_no_features(tmp_path):
    found = told(write(tmp_path / "a.libsvm", "1 1:2\n0\n1:2 2:3\n"))
    assert found == [{"label": 1.0, "1": 2.0}, {"label": 0.0}, found[2]]
    assert found[2].endswith("it has no label")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le"])
def test_other_encodings(tmp_path, encoding):
    text = 'größe,y\n1,"ä\nö"\n2,ü\n'
    path = write(tmp_path / "a.csv", text.encode(encoding))
    expected = [(2, {"größe": 1.0, "y": "ä\nö"}), (4, {"größe": 2.0, "y": "ü"})]
    assert read(path, encoding=encoding) == expected
    if encoding == "utf-16":
        assert read(path) == expected
    with pytest.raises(files.FileError, match="there is no encoding 'klingon'"):
        files.Reader(path, encoding="klingon")


def test_json_in_another_encoding_is_bad_line_by_line(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"x": 1}\n{"größe": 1}\n'.encode("latin-1"))
    assert told(path)[1].startswith("is not UTF-8: say --encoding latin-1")
    assert told(path, encoding="latin-1")[1] == {"größe": 1}


def test_decimal_commas_on_request(tmp_path):
    path = write(tmp_path / "a.tsv", "x\ty\n0,5\t1\n")
    assert told(path) == [{"x": "0,5", "y": 1.0}]
    assert told(path, decimal_comma=True) == [{"x": 0.5, "y": 1.0}]


# Suspects.


@pytest.mark.parametrize(
    ("values", "suspect"),
    [
        ([-200.0], -200.0),
        ([-9999.0, 3.5], -9999.0),
        ([999999.0], 999999.0),
        (["unknown"], "unknown"),
        ([3.5], None),
        ([0.0], None),
        ([-200.5], None),
    ],
)
def test_values_that_may_stand_for_absent_ones_are_suspected(values, suspect):
    suspects = files.Suspects()
    for t in range(3000):
        suspects.update({"x": values[t // 50 % len(values)] if t % 50 == 0 else 1 + t / 1000, "ok": t % 2, "on": True})
    assert [(found.key, found.value) for found in suspects.found] == ([("x", suspect)] if suspect is not None else [])
    assert all(0.005 < found.share < 0.05 for found in suspects.found)


def test_suspects_are_bounded():
    suspects = files.Suspects()
    for t in range(20_000):
        suspects.update({f"key {t}": 1.0, "id": float(t)})
    assert len(pickle.dumps(suspects)) < 100_000


# JSON has integers beyond the range of floats.

HUGE = 10**400


@pytest.mark.parametrize(("targets", "task"), [([HUGE, 1], "classification"), ([-HUGE, 0.5], "regression")])
def test_a_huge_integer_is_whole(targets, task):
    assert files.guess_task(targets) == task


@pytest.mark.parametrize("value", [HUGE, -HUGE, math.inf, math.nan])
def test_a_number_beyond_all_time_is_no_time(value):
    with pytest.raises(ValueError, match="the time is"):
        timestamp(value)


def test_only_numbers_of_some_size_and_strings_are_suspected():
    suspects = files.Suspects()
    for t in range(300):
        suspects.update({"x": [1], "y": {}, "z": HUGE if t % 10 == 0 else t, "n": math.nan, "b": -HUGE})
    assert suspects.found == []
