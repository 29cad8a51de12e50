"""A store in a dict, its journal, and the forward undo that goes wrong in six shapes."""

from itertools import count

from allocation.transactions.logic.undo import Image, Write

ABSENT = object()
MARKER = {"deleted": "{A0981677-7933-4A5C-A141-9B40E60BD411}"}
NOTHING = Image(False, None, "")


class Store:
    def __init__(self, start):
        self._refs = count(1)
        self._images = {}
        for key, value in start.items():
            self.put(key, value)

    def image(self, key):
        return self._images.get(key, NOTHING)

    def value(self, key):
        image = self.image(key)
        return image.value if image.present else ABSENT

    def put(self, key, value):
        self._images[key] = Image(True, value, f"r{next(self._refs)}")

    def delete(self, key):
        self._images[key] = Image(False, None, f"r{next(self._refs)}")

    def restore(self, key, image):
        self._images[key] = Image(image.present, image.value, f"r{next(self._refs)}")


def journalled(store, script):
    """Run a script; its journal, and the last value of each key that a third party wrote."""
    journal, strangers = [], {}
    for action, key, value in script:
        if action == "third party":
            store.put(key, value)
            strangers[key] = value
        elif action == "put" or store.image(key).present:
            journal.append(_write(store, action, key, value))
    return journal, strangers


def _write(store, action, key, value):
    before = store.image(key)
    if action == "put":
        store.put(key, value)
    else:
        store.delete(key)
    return Write(key, before, store.image(key).ref)


def forward_undo(store, journal):
    """What must be caught: forward, by value, "falsy" means absent, a marker in the band."""
    for write, new in zip(journal, _news(store, journal), strict=True):
        original = write.before.value if write.before.present else None
        current = store.image(write.key)
        deleted = new == MARKER
        if not deleted and (not current.present or current.value != new):
            continue
        if original and not (deleted and current.present):
            store.put(write.key, original)
        elif not original and current.present:
            store.delete(write.key)


def _news(store, journal):
    """The new value of each line: the next line's image before, or what is there now."""
    for position, write in enumerate(journal):
        later = [other.before for other in journal[position + 1 :] if other.key == write.key]
        image = later[0] if later else store.image(write.key)
        yield image.value if image.present else MARKER
