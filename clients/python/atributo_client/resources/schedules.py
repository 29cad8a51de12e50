"""Schedules: what runs by the calendar."""

from typing import Any, Unpack

from atributo_client.generated import answers, bodies, queries
from atributo_client.operation import Group, S, operation
from atributo_client.steps import Flow, PageOf, ask, page, part


class Schedules(Group[S]):
    @operation("schedules_list")
    def list(self, **filters: Unpack[queries.SchedulesListQuery]) -> Flow[PageOf[answers.Schedule]]:
        return page("schedules", filters)

    @operation("schedules_create")
    def create(
        self,
        name: str,
        script: bodies.ScriptName,
        rule: Any,
        **options: Unpack[bodies.ScheduleOptions],
    ) -> Flow[answers.Schedule]:
        """Create a schedule; a rule is such as {"cron": "0 9 * * mon-fri"}."""
        given = {"name": name, "script": script, "rule": rule, **options}
        return ask("POST", "schedules", given)

    @operation("schedules_get")
    def get(self, name: str) -> Flow[answers.Schedule]:
        return ask("GET", f"schedules/{part(name)}")

    @operation("schedules_change")
    def change(self, name: str, **changes: Unpack[bodies.ScheduleUpdate]) -> Flow[answers.Schedule]:
        return ask("PATCH", f"schedules/{part(name)}", changes)

    @operation("schedules_delete")
    def delete(self, name: str) -> Flow[None]:
        return ask("DELETE", f"schedules/{part(name)}")

    @operation("schedules_pause")
    def pause(self, name: str, **options: Unpack[bodies.SchedulePause]) -> Flow[answers.Schedule]:
        return ask("POST", f"schedules/{part(name)}/pause", options)

    @operation("schedules_resume")
    def resume(self, name: str) -> Flow[answers.Schedule]:
        return ask("POST", f"schedules/{part(name)}/resume")

    @operation("schedules_run_now")
    def run_now(self, name: str) -> Flow[answers.StartedRun]:
        """Push one run at once, beside the rule."""
        return ask("POST", f"schedules/{part(name)}/run")

    @operation("schedules_runs")
    def runs(
        self, name: str, **filters: Unpack[queries.SchedulesRunsQuery]
    ) -> Flow[PageOf[answers.ScheduledRun]]:
        return page(f"schedules/{part(name)}/runs", filters)

    @operation("schedules_preview")
    def preview(
        self, rule: Any, **options: Unpack[bodies.ScheduleRuleOptions]
    ) -> Flow[answers.SchedulePreview]:
        """Return the next runs of a rule; nothing is stored."""
        return ask("POST", "schedule-preview", {"rule": rule, **options})

    @operation("schedules_preview_change")
    def preview_change(
        self, name: str, **changes: Unpack[bodies.ScheduleUpdate]
    ) -> Flow[answers.SchedulePreview]:
        return ask("POST", f"schedules/{part(name)}/preview", changes)

    @operation("schedules_backfill")
    def backfill(
        self, name: str, since: str, until: str, **options: Unpack[bodies.BackfillOptions]
    ) -> Flow[answers.BackfillAnswer]:
        """Run the slots of a past range that had no run; `preview=True` only counts them."""
        given = {"since": since, "until": until, **options}
        return ask("POST", f"schedules/{part(name)}/backfill", given)

    @operation("schedules_stop_backfill")
    def stop_backfill(self, name: str) -> Flow[None]:
        return ask("DELETE", f"schedules/{part(name)}/backfill")
