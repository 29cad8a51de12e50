"""Every regular expression of the code, and texts that are awkward for each."""

import ast
import importlib
import itertools
import pkgutil
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from re import _constants as sre

from django.urls import get_resolver
from django.urls.resolvers import URLResolver

from tests.parsers.regex_steps import is_one, parse

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ["allocation", "queues", "pools", "atributo_site"]
FINDING = ("search", "findall", "finditer", "sub", "subn", "split")
INLINE = (*FINDING, "match", "fullmatch", "compile")
IN_SCRIPTS = re.compile(r"(?:= |\()/((?:\\.|[^/\\\n ])(?:\\.|[^/\\\n])*)/[a-z]*[;,).]")
SAMPLES = ["a", "0", ".", "!", " "]
MOST_CHARACTERS = 9


@dataclass(frozen=True)
class Regex:
    where: str
    pattern: re.Pattern
    anywhere: bool  # looked for in a text, not compared with the whole

    def __str__(self):
        return self.where


def every_regex():
    named = of_modules()
    known = {each.pattern.pattern for each in named}
    inline = [each for each in written_inline() if each.pattern.pattern not in known]
    return [*named, *inline, *of_addresses(), *of_scripts()]


def of_modules():
    found = []
    for name, module in modules():
        for attribute, value in vars(module).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                calls = [f"{attribute}.{method}(" for method in FINDING]
                anywhere = any(call in source for source in sources().values() for call in calls)
                found.append(Regex(f"{name}.{attribute}", value, anywhere))
    return found


def modules():
    for package in PACKAGES:
        root = importlib.import_module(package)
        for each in pkgutil.walk_packages(root.__path__, f"{package}."):
            if ".migrations" not in each.name and "env_example" not in each.name:
                yield each.name, importlib.import_module(each.name)


@cache
def sources():
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return {path: path.read_text() for path in paths}


def written_inline():
    """Those that stand in the call; others are attributes of a module."""
    found = []
    for path, source in sources().items():
        for node in ast.walk(ast.parse(source)):
            if is_inline(node):
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                pattern = re.compile(node.args[0].value)
                found.append(Regex(where, pattern, node.func.attr in FINDING))
    return found


def is_inline(node):
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in INLINE
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and isinstance(node.args[0], ast.Constant)
    )


def of_addresses():
    """Django compares them one after the other, each from the beginning; words do not matter."""
    shapes = {re.sub(r"(?<=[/^-])[a-z_]+(?=[/\\-])", "x", text) for text in routes()}
    return [Regex(f"address {text}", re.compile(text), False) for text in sorted(shapes)]


def routes(resolver=None):
    for each in (resolver or get_resolver()).url_patterns:
        yield each.pattern.regex.pattern
        if isinstance(each, URLResolver):
            yield from routes(each)


def of_scripts():
    found = []
    for path in sorted((ROOT / "atributo_site/static/atributo/js").glob("*.js")):
        for text in IN_SCRIPTS.findall(path.read_text()):
            found.append(Regex(f"{path.name} /{text}/", re.compile(text), True))
    return found


# -- awkward texts ---------------------------------------------------------------------------


def awkward(pattern, times):
    """Whatever leads to a repetition, then one or two characters many times, then a misfit."""
    tree = parse(pattern)
    alphabet = characters(tree)
    words = [*alphabet, *map("".join, itertools.product(alphabet, repeat=2))]
    beginnings = sorted({"", *beginnings_of(tree, "")})
    for begin, word, end in itertools.product(beginnings, words, ("", "!")):
        yield begin + word * times + end


def characters(tree):
    found = list(dict.fromkeys([*literals(tree), *SAMPLES]))
    return found[:MOST_CHARACTERS]


def literals(nodes):
    for kind, about in nodes:
        if kind in (sre.LITERAL, sre.NOT_LITERAL):
            yield chr(about)
        elif kind is sre.IN:
            yield from (chr(each) for what, each in about if what is sre.LITERAL)
        for inner in inside(kind, about):
            yield from literals(inner)


def beginnings_of(nodes, before):
    """The shortest texts that lead to each repetition."""
    for kind, about in nodes:
        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            yield before
        for inner in inside(kind, about):
            yield from beginnings_of(inner, before)
        before += shortest([(kind, about)])


def inside(kind, about):
    if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        return [about[2]]
    if kind is sre.SUBPATTERN:
        return [about[3]]
    return about[1] if kind is sre.BRANCH else []


def shortest(nodes):
    text = ""
    for kind, about in nodes:
        if kind is sre.LITERAL:
            text += chr(about)
        elif kind is sre.IN:
            text += member(about)
        elif kind in (sre.ANY, sre.NOT_LITERAL):
            text += "a" if about != ord("a") else "b"
        elif kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            text += shortest(about[2]) * about[0]
        elif inner := inside(kind, about):
            text += shortest(inner[0])
    return text


def member(about):
    candidates = [*map(chr, range(33, 127)), " ", "\n", "\x00", "\ud800"]
    return next(each for each in candidates if is_one(sre.IN, about, each, 0))
