"""What `make matrix` tries, what it leaves out by name, and the page of Django's own tests."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.packaging.environment import ROOT
from tests.packaging.matrix.pairs import (
    PYTHONS,
    SERIES,
    Pair,
    all_pairs,
    chosen,
    find_python,
    left_out,
)
from tests.packaging.upstream import verdicts
from tests.packaging.upstream.page import PAGE, names_in, word_of

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def here(version):
    return Path("/usr/bin/python")


def test_every_pair_is_tried_or_left_out_with_its_reason():
    tried = [pair for pair in all_pairs() if not left_out(pair, here)]
    assert len(all_pairs()) == 9 and len(tried) == 7
    assert left_out(Pair("6.0", "3.11"), here) == "Django 6.0 needs Python 3.12"
    reason = left_out(Pair("6.0", "3.12"), lambda version: None)
    assert reason == "Python 3.12 is not on this machine"


def test_a_python_of_pyenv_is_found_from_any_home(tmp_path, monkeypatch):
    shim = tmp_path / "pyenv" / "shims" / "python3.13"
    newest = tmp_path / "pyenv" / "versions" / "3.13.10" / "bin" / "python"
    older = tmp_path / "pyenv" / "versions" / "3.13.9" / "bin" / "python"
    for path, answer in ((shim, ""), (newest, "3.13"), (older, "3.13")):
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\necho {answer}\n")
        path.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    monkeypatch.delenv("PYENV_ROOT", raising=False)
    monkeypatch.setenv("PATH", str(shim.parent))
    assert find_python("3.13") == newest
    assert find_python("3.12") is None


def test_pairs_are_chosen_by_either_half_or_both():
    assert chosen([]) == all_pairs()
    assert chosen(["6.1:3.13"]) == [Pair("6.1", "3.13")]
    assert [pair.python for pair in chosen(["6.1"])] == list(PYTHONS)
    assert {pair.django for pair in chosen(["3.12"])} == set(SERIES)
    with pytest.raises(SystemExit, match="No pair is called 7.0"):
        chosen(["7.0"])


def test_the_package_claims_the_versions_of_the_matrix_and_no_others():
    claimed = " ".join(PROJECT["classifiers"])
    assert re.findall(r"Django :: ([\d.]+)", claimed) == list(SERIES)
    assert re.findall(r"Python :: (\d\.\d+)", claimed) == list(PYTHONS)
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    newest = max(SERIES).split(".")
    above = f"{newest[0]}.{int(newest[1]) + 1}"
    assert PROJECT["dependencies"][0] == f"django>={min(SERIES)},<{above}"


def test_the_page_says_what_the_verdicts_say():
    rows = dict(re.findall(r"^\| `([\w.]+)` \| (.+) \|$", PAGE.read_text(), re.M))
    named = {**verdicts.ADAPTED, **verdicts.NOT_APPLICABLE}
    assert set(named) <= set(rows)
    assert rows == {name: word_of(name) for name in rows}


def test_tests_are_found_by_their_classes(tmp_path):
    body = "    def test_x(self): ...\n    async def test_y(self): ...\n    def help(self): ...\n"
    (tmp_path / "test_it.py").write_text(f"class A:\n{body}")
    assert list(names_in(tmp_path)) == ["A.test_x", "A.test_y"]
