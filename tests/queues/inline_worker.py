"""A worker without a process of its own: what a test needs to have jobs run at once."""

from atributo_site.core.errors import LeaseLost
from queues.children.child_process import Workhorse
from queues.children.waits import followed
from queues.runs.slots import acquire, free_slots_with_work, has_due
from queues.runs.stations import call_all
from queues.worker.slot_runner import SlotRunner

ROUNDS = 200


class Hands:
    def __init__(self):
        self.workhorse = Workhorse(512)

    def drain(self, rounds=ROUNDS):
        """Run due jobs until none is left."""
        for _ in range(rounds):
            found = free_slots_with_work()
            if not found:
                return
            for queue, number in found:
                self.pump(acquire(queue, number, "hands"))
        raise AssertionError("the jobs never end")

    def pump(self, slot):
        pump = SlotRunner(slot, self.workhorse, "hands", lambda: None, lambda: False)
        try:
            pump.run()
        except LeaseLost:
            return
        slot.release()

    def acquire(self, queue, number=0):
        return acquire(queue, number, "hands")

    def runner(self, slot, **ways):
        return SlotRunner(slot, self.workhorse, "hands", lambda: None, lambda: False, **ways)

    def follow(self, steps):
        return followed(steps)

    def pump_at(self, post, queue, number):
        """What a worker of an instance does with a bell."""
        slot = acquire(queue, number, post.presence.holder)
        post.begin()
        name = post.presence.role
        ways = {"reserve": post.reserve, "call": call_all}
        try:
            SlotRunner(slot, self.workhorse, name, lambda: None, lambda: False, **ways).run()
            slot.give_back()
            slot.release()
        finally:
            post.end()

    def idle(self, queue_id):
        return not has_due(queue_id)

    def close(self):
        self.workhorse.close()
