"""Gives columns of pyarrow to the C interface, and compares the tables that come back.

usage: arrow_columns.py LIBRARY SNAPSHOT EXPECTED
LIBRARY is the shared library, SNAPSHOT is compiled from datasets/small, EXPECTED is its expected.tsv.
"""

import ctypes
import re
import sys

import pyarrow

library = ctypes.CDLL(sys.argv[1])
library.robosieve_last_error.restype = ctypes.c_char_p
AGENTS = [b"GPTBot", b"Googlebot", b"Googlebot-Image:Googlebot", b"MJ12bot", b"FooBot"]
# Arrow's structs, of which only pyarrow reads the members.
ARRAY, SCHEMA = ctypes.c_byte * 80, ctypes.c_byte * 72


def call(function, *arguments):
    if getattr(library, function)(*arguments):
        raise ValueError(library.robosieve_last_error().decode())


def new_judge(path):
    snapshot, judge = ctypes.c_void_p(), ctypes.c_void_p()
    call("robosieve_snapshot_open", path.encode(), 0, ctypes.byref(snapshot))
    agents = (ctypes.c_char_p * len(AGENTS))(*AGENTS)
    call("robosieve_judge_new", snapshot, agents, ctypes.c_size_t(len(AGENTS)), None, ctypes.byref(judge))
    return judge


def judged(judge, urls, columns):
    array, schema, out_array, out_schema = ARRAY(), SCHEMA(), ARRAY(), SCHEMA()
    urls._export_to_c(ctypes.addressof(array), ctypes.addressof(schema))
    given = map(ctypes.byref, (array, schema))
    call("robosieve_judge_arrow", judge, *given, columns, 0, ctypes.byref(out_array), ctypes.byref(out_schema))
    # pyarrow releases what it exported when it takes it back.
    pyarrow.Array._import_from_c(ctypes.addressof(array), ctypes.addressof(schema))
    table = pyarrow.RecordBatch._import_from_c(ctypes.addressof(out_array), ctypes.addressof(out_schema))
    table.validate(full=True)
    return table


def main():
    judge = new_judge(sys.argv[2])
    with open(sys.argv[3], encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        rows = [line.rstrip("\n").split("\t", 1) for line in file]
    letters = [["DAUI".index(letter) for letter in row[0]] for row in rows]
    texts = [row[1].encode("utf-8", "surrogateescape") for row in rows]
    types = [pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary_view()]
    for number, type_ in enumerate(types):
        nulls = [None if row % 7 == number else text for row, text in enumerate(texts)]
        whole = pyarrow.array([b"https://not.asked.example/", *nulls], type_)
        for start, urls in [(0, pyarrow.array(texts, type_)), (0, whole[1:]), (9, whole[10:50])]:
            table = judged(judge, urls, 31)
            for agent, label in enumerate(AGENTS):
                found = table[label.decode()].to_pylist()
                asked = zip(urls.to_pylist(), letters[start:])
                assert found == [None if url is None else row[agent] for url, row in asked], (type_, label)
            allowed = table["allowed"].to_pylist()
            asked = zip(urls.to_pylist(), letters[start:])
            assert allowed == [None if url is None else set(row) == {1} for url, row in asked], type_
            reasons = set(table["reason"].to_pylist())
            assert reasons - {None} <= set(table["reason"].dictionary.to_pylist()), reasons
            delays = table["crawl_delay_GPTBot"]
            assert delays.type == pyarrow.float64() and (start or 0 < delays.null_count < len(urls))
            for url, reason, origin in zip(urls.to_pylist(), table["reason"].to_pylist(), table["origin"].to_pylist()):
                assert (origin is None) == (url is None or reason == "not-a-url"), url
                assert origin is None or re.fullmatch(r"[a-z]+://[^/?#@]+", origin), origin
    assert judged(judge, pyarrow.nulls(3), 2)["allowed"].to_pylist() == [None] * 3
    for type_ in [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()]:
        assert judged(judge, pyarrow.array([texts[0].decode()], type_), 1)["GPTBot"].to_pylist() == letters[0][:1]
    for urls in [pyarrow.array([1]), pyarrow.array(["x"]).dictionary_encode()]:
        try:
            judged(judge, urls, 1)
        except ValueError as error:
            assert "text or bytes" in str(error), error
        else:
            raise AssertionError(urls.type)
    print(f"{len(types)} types, {len(rows)} URLs: the tables that pyarrow {pyarrow.__version__} imports are right")


main()
