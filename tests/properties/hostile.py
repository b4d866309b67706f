"""Values that nobody should send: each as the bytes of a JSON value, and as the text of a parameter or form field."""

from __future__ import annotations

import json

BIG = 2**21


def _nested(opening: str, closing: str, levels: int) -> bytes:
    return (opening * levels + closing * levels).encode()


# What JSON libraries refuse to write stands here as bytes.
JSON_VALUES: dict[str, bytes] = {
    "null": b"null",
    "an empty text": b'""',
    "a blank": b'" "',
    "500 characters": json.dumps("あ" * 500).encode(),
    "5,000 characters": b'"' + b"x" * 5000 + b'"',
    "minus one": b"-1",
    "zero": b"0",
    "a half": b"0.5",
    "2^31": b"2147483648",
    "2^31 - 1": b"2147483647",
    "2^63": b"9223372036854775808",
    "10^12": b"1000000000000",
    "300 digits": b"9" * 300,
    "5,000 digits": b"9" * 5000,
    "NaN": b"NaN",
    "1e999": b"1e999",
    "-1e999": b"-1e999",
    "1e308": b"1e308",
    "NUL": b'"a\\u0000b"',
    "half of a pair": b'"a\\ud800b"',
    "no UTF-8": b'"a\xff\xfeb"',
    "true": b"true",
    "an object": b"{}",
    "a list": b"[]",
    "a list of null": b"[null]",
    "a list of lists": b"[[[]]]",
    "a list with a long text": b'["' + b"x" * 5000 + b'"]',
    "a list with NUL": b'["\\u0000"]',
    "a list of numbers": b"[1,-1,2147483648,1e999]",
    "1,000 levels of lists": _nested("[", "]", 1000),
    "1,000 levels of objects": b'{"a":' * 1000 + b"1" + b"}" * 1000,
    "25 levels of objects": b'{"a":' * 25 + b"1" + b"}" * 25,
    "an object with 1e999": b'{"a":1e999}',
    "an object with NUL": b'{"a":"\\u0000"}',
    "an object with a NUL key": b'{"\\u0000":1}',
    "an object with half of a pair": b'{"a":"\\ud800"}',
    "an object with 400 digits": b'{"a":' + b"9" * 400 + b"}",
    "the first day": b'"0001-01-01"',
    "the first moment": b'"0001-01-01T00:00:00+14:00"',
    "the last day": b'"9999-12-31"',
    "the last moment": b'"9999-12-31T23:59:59-14:00"',
    "a day that is none": b'"2026-02-30"',
    "an id that is none": b'"doc_\'\\"%_../..\\\\"',
    "braces": b'"{0} {code} %s %(x)s {{"',
}
# Each costs the reader some milliseconds, so that they go to a part of the fields only when time is short.
LARGE_JSON_VALUES: dict[str, bytes] = {
    "2 MB of text": b'"' + b"x" * BIG + b'"',
    "2 MB of Japanese": b'"' + "仕".encode() * (BIG // 3) + b'"',
    "50,000 numbers": b"[" + b",".join([b"1"] * 50_000) + b"]",
    "10,000 texts": json.dumps([f"x{number}" for number in range(10_000)]).encode(),
    "50,000 keys": json.dumps({f"key{number}": number for number in range(50_000)}).encode(),
    "an object of 1 MB": json.dumps({"a": "x" * 2**20}).encode(),
    "100,000 levels": _nested("[", "]", 100_000),
}
# For query, path, form and header: what a program puts there, before it is quoted.
TEXT_VALUES: dict[str, bytes] = {
    "empty": b"",
    "a blank": b" ",
    "null": b"null",
    "minus one": b"-1",
    "zero": b"0",
    "a half": b"0.5",
    "2^31": b"2147483648",
    "2^63": b"9223372036854775808",
    "300 digits": b"9" * 300,
    "5,000 digits": b"9" * 5000,
    "NaN": b"NaN",
    "Infinity": b"Infinity",
    "1e999": b"1e999",
    "NUL": b"a\x00b",
    "half of a pair": b"a\xed\xa0\x80b",
    "no UTF-8": b"a\xff\xfeb",
    "500 characters": "あ".encode() * 500,
    "5,000 characters": b"x" * 5000,
    "true": b"true",
    "a list": b"[]",
    "an object with 1e999": b'{"a":1e999}',
    "an object with NUL": b'{"a":"\\u0000"}',
    "an object with half of a pair": b'{"a":"\\ud800"}',
    "an object with 400 digits": b'{"a":' + b"9" * 400 + b"}",
    "1,000 levels": b'{"a":' * 1000 + b"1" + b"}" * 1000,
    "the first moment": b"0001-01-01T00:00:00+14:00",
    "the last moment": b"9999-12-31T23:59:59-14:00",
    "a quote and wildcards": b"'\"%_\\../..",
    "braces": b"{0} {code} %s %(x)s {{",
}
LARGE_TEXT_VALUES: dict[str, bytes] = {
    "2 MB of text": b"x" * BIG,
    "an object of 2 MB": json.dumps({"a": "x" * BIG}).encode(),
    "50,000 keys": json.dumps({f"key{number}": number for number in range(50_000)}).encode(),
}
