"""Files of JSON: a wrong one is an error that names it, and a seal is of the values."""

import gzip
import json

import pytest

import fairfl._support.json_file as json_file
from fairfl._support.json_file import parsed, read_json, sealed, unsealed

DEEP = json_file.MOST_DEPTH
WRONG = {
    "empty": (b"", "it is not JSON"),
    "half": (b'{"a": [1', "it is not JSON"),
    "no text": (b"\xff\xfe\x00", "it is not JSON"),
    "compressed": (gzip.compress(b"{}"), "it is compressed"),
    "digits": (b"1" * 5000, "it is not JSON"),
    "deep": (b"[" * (DEEP + 1) + b"]" * (DEEP + 1), f"more than {DEEP} deep"),
    "deep objects": (b'{"a":' * (DEEP + 1) + b"1" + b"}" * (DEEP + 1), f"more than {DEEP} deep"),
    "deeper": (b"[" * 10**5 + b"]" * 10**5, f"more than {DEEP} deep"),
    "open": (b"[" * 10**5, f"more than {DEEP} deep"),
    "long": (b" " * 2000 + b"1", "more than 2,000 bytes"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_named_with_what_is_wrong(name, tmp_path, monkeypatch):
    text, words = WRONG[name]
    if name == "long":
        monkeypatch.setattr(json_file, "MOST_BYTES", 2000)
    (tmp_path / "a.json").write_bytes(text)
    with pytest.raises(ValueError, match=f"a.json is no list of mine: .*{words}"):
        read_json(tmp_path / "a.json", "list of mine")


def test_what_is_deep_is_read_up_to_the_limit():
    text = "[" * DEEP + "]" * DEEP
    assert json.dumps(parsed(text)) == text


def test_a_seal_is_of_the_values():
    data = {"a": [1, 2.5, None, "ε"], "b": {"c": True}}
    text = sealed(data)
    assert unsealed(parsed(text)) == data == unsealed(json.loads(json.dumps(parsed(text))))
    for old, new in (("2.5", "2.25"), ("ε", "e"), ("true", "false"), ('"c"', '"d"')):
        with pytest.raises(ValueError, match="its sha256 differs"):
            unsealed(parsed(text.replace(old, new)))
    for unsealed_data in ({}, [], 3, None, {"a": 1}, {"sha256": None}):
        with pytest.raises(ValueError, match="sha256"):
            unsealed(unsealed_data)
