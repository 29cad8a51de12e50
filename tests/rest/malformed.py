"""More than two hundred request bodies that no endpoint may accept, each with a name."""

import json

CONSTANTS = ["NaN", "Infinity", "-Infinity", "nan", "undefined", "None", "True", "1e999", "-1e999"]
BROKEN = [
    *("{", "}", "[", "]", "[}", "{]", "{}{}", "{} {}", "[][]", "{},", ",{}", '{"a"}', '{"a":}'),
    *('{"a":1,}', '{,"a":1}', '{"a" 1}', "{a:1}", "{'a':1}", '{"a":1', '"a', '{"a', '{"a":"b'),
    *('{"a":01}', '{"a":+1}', '{"a":1.}', '{"a":.5}', '{"a":1e}', '{"a":0x1}', '{"a":1_0}'),
    *('{"a":--1}', '{"a":tru}', '{"a":nul}', '{"a":TRUE}', '{"a":/**/1}', '{"a":1}//', "#{}"),
    *('{"a":"\\x41"}', '{"a":"\\u12"}', '{"a":"\\u12G4"}', '{"a":"\\"}', '{"a":"\\', "<a/>"),
    *('{"a":"b\nc"}', '{"a":"b\tc"}', '{"a":"b\x01c"}', "a=b", "a=b&c=d", "%7B%7D", "---\na: 1"),
    *("{}\x0c", "\x0b{}", "{}\x00", "\x00{}", "{\xa0}", "\u2028{}", "null{}", "(function(){})()"),
    *(")]}',\n{}", "while(1);{}", "callback({})", "data: {}", "{}\n{}\n", "0{}", '{"a":1;}'),
]
NOT_OBJECTS = [
    *("null", "true", "false", "0", "-0", "1.5", "1e3", '""', '"text"', "[]", "[{}]", "[1, 2]"),
    *('[[""]]', "12345678901234567890", '"{}"', "[null]", '"\\u00e9"', " 7 "),
]
SURROGATES = ["\\ud800", "\\udfff", "\\udc00\\ud800", "x\\ud83d", "\\ud83d\\u0041", "\\uDBFF"]
NAMES = ["name", "level", "id", "payload", "args", "x"]


def corpus():
    """Return name → bytes."""
    return {**_texts(), **_numbers(), **_nested(), **_doubled(), **_strings(), **_bytes()}


def _texts():
    plain = {f"broken {text!r}": text.encode() for text in BROKEN}
    wrong = {f"not an object {text!r}": text.encode() for text in NOT_OBJECTS}
    blank = {f"blank {text!r}": text.encode() for text in (" ", "\n", "\t\r\n", " " * 1000)}
    return {**plain, **wrong, **blank}


def _numbers():
    within = {
        f"{name}: {text}": f'{{"{name}": {text}}}' for text in CONSTANTS for name in NAMES[:3]
    }
    digits = {f"{n} digits": f'{{"a": {"9" * n}}}' for n in (41, 100, 4300, 4301, 5000, 100_000)}
    minus = {f"minus {n} digits": f'{{"a": -{"9" * n}}}' for n in (41, 5000)}
    listed = {f"listed {text}": f'{{"a": [1, {text}]}}' for text in CONSTANTS}
    return _encoded({**within, **digits, **minus, **listed})


def _nested():
    arrays = {f"{n} arrays": f'{{"a": {"[" * n}{"]" * n}}}' for n in (32, 33, 100, 1000, 100_000)}
    objects = {f"{n} objects": '{"a":' * n + "1" + "}" * n for n in (33, 100, 1000, 50_000)}
    unclosed = {f"{n} unclosed": "[" * n for n in (1, 33, 1000, 100_000)}
    return _encoded({**arrays, **objects, **unclosed})


def _doubled():
    plain = {f"{name} twice": f'{{"{name}": 1, "{name}": 2}}' for name in NAMES}
    inner = {f"{name} twice inside": f'{{"a": [{{"{name}": 1, "{name}": 1}}]}}' for name in NAMES}
    hidden = {f"{name} twice, escaped": _escaped_twice(name) for name in NAMES}
    many = "{" + ", ".join('"k": 1' for _ in range(5000)) + "}"
    return _encoded({**plain, **inner, **hidden, "5000 times": many})


def _escaped_twice(name):
    return f'{{"{name}": 1, "\\u{ord(name[0]):04x}{name[1:]}": 2}}'


def _strings():
    bad = [*SURROGATES, "\\u0000", "a\\u0000b"]
    values = {f"value {text}": f'{{"{name}": "{text}"}}' for text in bad for name in NAMES[:1]}
    names = {f"name {text}": f'{{"{text}": 1}}' for text in bad}
    deep = {f"deep {text}": f'{{"a": {{"b": ["{text}"]}}}}' for text in bad}
    return _encoded({**values, **names, **deep})


def _bytes():
    fine = json.dumps({"name": "x", "level": "view"})
    other = ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-7", "utf-8-sig"]
    coded = {f"in {name}": fine.encode(name) + b"\xff" * (name == "utf-7") for name in other}
    stray = [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80"]
    inside = {f"bytes {raw!r}": b'{"name": "' + raw + b'"}' for raw in stray}
    latin = {"latin-1": '{"name": "é"}'.encode("latin-1"), "gzip": b"\x1f\x8b\x08\x00abcdef"}
    pickles = {"pickle": b"\x80\x04\x95\x0b\x00\x00\x00.", "zeros": b"\x00" * 64}
    return {**coded, **inside, **latin, **pickles}


def _encoded(texts):
    return {name: text.encode() for name, text in texts.items()}
