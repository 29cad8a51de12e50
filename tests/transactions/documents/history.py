"""A checker of list-append histories, in the spirit of Elle.

Each transaction is a list of ("append", key, unique element) and ("r", key, the list read).
From what was read the checker derives the order of writes per key and who depends on whom;
a circle of dependencies is an anomaly.
"""

from dataclasses import dataclass, field


@dataclass
class Txn:
    """What a client did, and how it ended: ok, fail, or info when the client cannot know."""

    id: int
    steps: list = field(default_factory=list)
    outcome: str = "info"


def anomalies(history, final):
    """Sentences for everything that a serial execution could not have produced."""
    orders, found = version_orders(history, final)
    found += aborted_reads(history)
    found += lost_appends(history, final)
    found += [f"{name}: {circle}" for name, circle in circles(edges(history, orders))]
    return found


def version_orders(history, final):
    """The longest list of each key; every other list that was read must be its beginning."""
    orders = {key: list(elements) for key, elements in final.items()}
    found = [
        f"an element appears twice in {key}: {order}"
        for key, order in orders.items()
        if len(set(order)) != len(order)
    ]
    for txn in history:
        for key, read in reads_before_own_writes(txn):
            order = orders.setdefault(key, list(read))
            if order[: len(read)] != read and txn.outcome == "ok":
                found.append(f"{txn.id} read {read} of {key}, which became {order}")
    return orders, found


def aborted_reads(history):
    """A committed transaction must not have seen what a failed one wrote."""
    failed = {
        (key, element) for txn in history if txn.outcome == "fail" for key, element in writes(txn)
    }
    return [
        f"{txn.id} read the aborted {element} of {key}"
        for txn in history
        if txn.outcome == "ok"
        for key, read in reads_before_own_writes(txn)
        for element in read
        if (key, element) in failed
    ]


def lost_appends(history, final):
    """What was acknowledged must be there."""
    return [
        f"{txn.id} appended {element} to {key}, which is lost"
        for txn in history
        if txn.outcome == "ok"
        for key, element in writes(txn)
        if element not in final.get(key, [])
    ]


def edges(history, orders):
    """Write-write, write-read and read-write dependencies between transactions that committed."""
    writer = {(key, e): txn.id for txn in history for key, e in writes(txn)}
    found = set()
    for key, order in orders.items():
        pairs = zip(order, order[1:], strict=False)
        found |= {(writer.get((key, a)), writer.get((key, b)), "ww") for a, b in pairs}
    for txn in (txn for txn in history if txn.outcome == "ok"):
        for key, read in reads_before_own_writes(txn):
            order = orders.get(key, [])
            if read:
                found.add((writer.get((key, read[-1])), txn.id, "wr"))
            if len(read) < len(order):
                found.add((txn.id, writer.get((key, order[len(read)])), "rw"))
    return {(a, b, kind) for a, b, kind in found if None not in (a, b) and a != b}


def circles(found):
    """One shortest circle through each transaction that is in one."""
    following = {}
    for start, end, kind in found:
        following.setdefault(start, []).append((end, kind))
    named = {}
    for start in following:
        path = shortest(start, following)
        if path is not None:
            kinds = {kind for _, kind in path}
            name = "G2" if "rw" in kinds else "G1c" if "wr" in kinds else "G0"
            named.setdefault(frozenset(node for node, _ in path), (name, path))
    return list(named.values())


def shortest(start, following):
    todo, seen = [(start, [])], set()
    while todo:
        node, path = todo.pop(0)
        for end, kind in following.get(node, []):
            if end == start:
                return [*path, (end, kind)]
            if end not in seen:
                seen.add(end)
                todo.append((end, [*path, (end, kind)]))
    return None


def writes(txn):
    return [(key, element) for name, key, element in txn.steps if name == "append"]


def reads_before_own_writes(txn):
    own = set()
    for name, key, value in txn.steps:
        if name == "append":
            own.add(key)
        elif key not in own:
            yield key, value
