"""A schema with every kind of member, and the same data as typed and as read."""

ADDRESS = {
    "type": "object",
    "title": "Address",
    "properties": {
        "street": {"type": "string"},
        "since": {"type": "string", "format": "date"},
        "at/home": {"type": "boolean"},
        "place": {"$ref": "#/$defs/place"},
    },
    "required": ["street"],
}
PLACE = {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}}
WAYS = [{"const": "air", "title": "By air"}, {"const": "sea", "title": "By sea"}]
ORDER = {
    "type": "object",
    "$defs": {"place": PLACE},
    "properties": {
        "when": {"type": "string", "format": "date"},
        "mail": {"type": "string", "format": "email", "maxLength": 40},
        "site": {"type": "string", "format": "uri"},
        "host": {"type": "string", "format": "ipv4"},
        "copies": {"type": "integer", "minimum": 0.5, "maximum": 9.5},
        "weight": {"type": "number", "minimum": 0, "multipleOf": 0.25},
        "way": {"oneOf": WAYS},
        "size": {"enum": ["s", "m", 3, None]},
        "to": ADDRESS,
    },
    "required": ["when", "way"],
}
TYPED = {
    "data-when": "2026-01-31",
    "data-mail": "ada@example.org",
    "data-copies": "2",
    "data-weight": "1.25",
    "data-way": '"sea"',
    "data-size": "null",
    "data-to/street": "Main Street 1",
    "data-to/since": "1999-12-31",
    "data-to/at~1home": "yes",
    "data-to/place/x": "7.5",
}
DATA = {
    "when": "2026-01-31",
    "mail": "ada@example.org",
    "copies": 2,
    "weight": 1.25,
    "way": "sea",
    "size": None,
    "to": {
        "street": "Main Street 1",
        "since": "1999-12-31",
        "at/home": True,
        "place": {"x": 7.5},
    },
}
