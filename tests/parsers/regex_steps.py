"""How many steps a regular expression takes on a text.

The engine of the standard library backtracks and does not say how often. This one walks the
same tree in the same order and counts.
"""

import re
from functools import cache
from re import _constants as sre
from re import _parser

MOST = 50_000
CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}
EDGES = {
    sre.AT_BEGINNING: lambda text, at: at == 0,
    sre.AT_BEGINNING_STRING: lambda text, at: at == 0,
    sre.AT_END: lambda text, at: text[at:] in ("", "\n"),
    sre.AT_END_STRING: lambda text, at: at == len(text),
    sre.AT_BOUNDARY: lambda text, at: _is_word(text[at - 1 : at]) != _is_word(text[at : at + 1]),
}


class TooMany(Exception):
    """It does not come to an end."""


def parse(pattern):
    return _parser.parse(pattern.pattern, pattern.flags)


def steps(pattern, text, *, anywhere):
    """Of a match of the whole text, or of finding every match in it."""
    walk = Walk(parse(pattern), pattern.flags, text)
    if anywhere:
        walk.find_all()
    else:
        walk.ends(0, is_whole=True)
    return walk.count


class Walk:
    def __init__(self, tree, flags, text):
        self.tree, self.text, self.count = tree, text, 0
        self.flags = flags & re.IGNORECASE

    def find_all(self):
        at = 0
        while at <= len(self.text):
            end = self.ends(at, is_whole=False)
            at = at + 1 if end is None or end == at else end

    def ends(self, at, *, is_whole):
        found = []

        def is_over(end):
            if is_whole and end < len(self.text):
                return False
            found.append(end)
            return True

        return found[0] if self.go(self.tree, 0, at, is_over) else None

    def go(self, nodes, index, at, then):
        """True as soon as the rest of the nodes matches here and `then` agrees."""
        self.count += 1
        if self.count > MOST:
            raise TooMany
        if index == len(nodes):
            return then(at)
        kind, about = nodes[index]

        def on(end):
            return self.go(nodes, index + 1, end, then)

        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            return self.repeat(about, 0, at, on)
        if kind is sre.SUBPATTERN:
            return self.go(about[3], 0, at, on)
        if kind is sre.BRANCH:
            return any(self.go(branch, 0, at, on) for branch in about[1])
        if kind in (sre.ASSERT, sre.ASSERT_NOT):
            return self.looks(about)(at) == (kind is sre.ASSERT) and on(at)
        if kind is sre.AT:
            return EDGES[about](self.text, at) and on(at)
        fits = at < len(self.text) and is_one(kind, about, self.text[at], self.flags)
        return fits and on(at + 1)

    def repeat(self, about, done, at, then):
        least, most, body = about

        def again(end):
            return (end > at or done < least) and self.repeat(about, done + 1, end, then)

        return (done < most and self.go(body, 0, at, again)) or (done >= least and then(at))

    def looks(self, about):
        direction, body = about
        width = 0 if direction > 0 else body.getwidth()[0]
        return lambda at: at >= width and self.go(body, 0, at - width, lambda end: True)


def is_one(kind, about, character, flags):
    """Whether the node, which stands for one character, stands for this one."""
    if kind is sre.IN:
        negated = about[0][0] is sre.NEGATE
        return any(is_one(*each, character, flags) for each in about[negated:]) != negated
    if kind is sre.CATEGORY:
        return is_in(about, character)
    if kind is sre.ANY:
        return character != "\n"
    if kind is sre.RANGE:
        return about[0] <= ord(character) <= about[1]
    same = ord(character) == about or (flags and character.lower() == chr(about).lower())
    return same != (kind is sre.NOT_LITERAL)


@cache
def is_in(category, character):
    return re.match(CATEGORIES[category], character) is not None


def _is_word(character):
    return character != "" and is_in(sre.CATEGORY_WORD, character)
