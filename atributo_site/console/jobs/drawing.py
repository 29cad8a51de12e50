"""Draw what waits for what around a job: columns of jobs, from the first to the last."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from queues.models import Dependency, QueuedJob
from queues.queries import batches
from queues.queries.states import job_state

LEVELS = 3  # columns on each side of the job
MOST = 40  # jobs
WIDTH, HEIGHT, GAP_X, GAP_Y = 220, 42, 50, 12


@dataclass
class Node:
    id: int
    column: int
    script: str = ""
    state: str = "deleted"
    is_this: bool = False
    x: int = 0
    y: int = 0

    @property
    def text_x(self) -> int:
        return self.x + 10


@dataclass
class Drawing:
    nodes: list[Node] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)
    before: list[Node] = field(default_factory=list)  # what it waits for, one step away
    after: list[Node] = field(default_factory=list)
    is_cut: bool = False
    width: int = 0
    height: int = 0


def drawing_of(job: QueuedJob, now: datetime) -> Drawing | None:
    """Return the jobs around one, with lines from each to those that wait for it; None if alone."""
    columns: dict[int, int] = {job.pk: 0}
    links: dict[tuple[int, int], Dependency] = {}
    is_cut = _walk(columns, links, job.pk, -1)
    if job.awaited:
        is_cut |= _walk(columns, links, job.pk, +1)
    if not links:
        return None
    _part(columns, links)
    rows = QueuedJob.objects.defer("data", "result").in_bulk(list(columns))
    nodes = {
        pk: _node(pk, column, rows.get(pk), now, is_this=pk == job.pk)
        for pk, column in columns.items()
    }
    drawing = Drawing(is_cut=is_cut)
    _place(drawing, nodes)
    drawing.lines = [
        _line(nodes[after], nodes[job_id])
        for after, job_id in links
        if after in nodes and job_id in nodes
    ]
    drawing.before = [nodes[a] for a, b in links if b == job.pk and a in nodes]
    drawing.after = [nodes[b] for a, b in links if a == job.pk and b in nodes]
    return drawing


def _walk(
    columns: dict[int, int], links: dict[tuple[int, int], Dependency], start: int, step: int
) -> bool:
    """Go to the jobs before (-1) or after (+1) it; return whether there are more than are shown."""
    border = [start]
    for level in range(1, LEVELS + 1):
        found = batches.before(border) if step < 0 else batches.after(border)
        border = []
        for link in found:
            other = link.after_id if step < 0 else link.job_id
            if other not in columns and len(columns) >= MOST:
                return True
            links[link.after_id, link.job_id] = link
            if other not in columns:
                columns[other] = step * level
                border.append(other)
        if not border:
            return False
    return bool(batches.before(border) if step < 0 else batches.after(border))


def _part(columns: dict[int, int], links: dict[tuple[int, int], Dependency]) -> None:
    """Move jobs outwards until each stands before those that wait for it: nobody is in a circle."""
    moved = True
    while moved:
        moved = False
        for after, job in links:
            if after in columns and job in columns and columns[after] >= columns[job]:
                moved = True
                if columns[job] <= 0:
                    columns[after] = columns[job] - 1
                else:
                    columns[job] = columns[after] + 1


def _node(pk: int, column: int, job: QueuedJob | None, now: datetime, *, is_this: bool) -> Node:
    if job is None:
        return Node(pk, column, is_this=is_this)
    return Node(pk, column, job.script, job_state(job, now), is_this)


def _place(drawing: Drawing, nodes: dict[int, Node]) -> None:
    """Give each job a place: its column, and below the ones before it."""
    first = min(node.column for node in nodes.values())
    filled: dict[int, int] = {}
    for node in sorted(nodes.values(), key=lambda each: (each.column, each.id)):
        at = filled.get(node.column, 0)
        filled[node.column] = at + 1
        node.x = (node.column - first) * (WIDTH + GAP_X) + 1
        node.y = at * (HEIGHT + GAP_Y) + 1
    drawing.nodes = sorted(nodes.values(), key=lambda each: (each.x, each.y))
    drawing.width = max(node.x for node in nodes.values()) + WIDTH + 2
    drawing.height = max(filled.values()) * (HEIGHT + GAP_Y) + 2


def _line(begin: Node, end: Node) -> dict[str, Any]:
    x1, x2 = begin.x + WIDTH, end.x
    y1, y2 = begin.y + HEIGHT // 2, end.y + HEIGHT // 2
    if y1 == y2 and end.column > begin.column + 1:  # below the jobs between them
        low = y1 + HEIGHT
        return {"path": f"M{x1} {y1} C{x1 + GAP_X} {low} {x2 - GAP_X} {low} {x2} {y2}"}
    middle = (x1 + x2) // 2
    return {"path": f"M{x1} {y1} C{middle} {y1} {middle} {y2} {x2} {y2}"}
