"""Raw lists at /admin/: all rows of a table, paged by key, under our table of permissions."""

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.filters import FieldListFilter, SimpleListFilter
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.db.models import IntegerField, Model, QuerySet
from django.http import HttpRequest
from django.shortcuts import redirect
from django.urls import NoReverseMatch, URLPattern
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.text import capfirst

from atributo_site.core.errors import AtributoError
from atributo_site.core.events import record
from atributo_site.pages.mount import prefix
from atributo_site.permissions import may
from atributo_site.web.pagination import capped_count, format_count, page_by_key
from atributo_site.web.row_actions import NeedsReason as NeedsReason
from atributo_site.web.row_actions import RowAction as RowAction
from atributo_site.web.row_actions import WholeNumber as WholeNumber
from atributo_site.web.row_actions import WithReason as WithReason

KEYS = ("after", "before")
BOXES, TICK = "action_checkbox", "tick"
HOSTED_LIST = ["atributo/hosted/change_list.html", "admin/change_list.html"]
LONGEST_VALUE = 1000  # of a filter, which every link of the page repeats


class CappedPaginator(Paginator):
    """Count no further than "10,000+"."""

    @cached_property
    def count(self) -> int:
        return capped_count(self.object_list, by_key=True)  # type: ignore[arg-type]


class KeysetChangeList(ChangeList):
    """A list with pages by key: `?after=` and `?before=` instead of numbers."""

    model_admin: "RawList"

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        self.keys: dict[str, Any] = {name: request.GET.get(name, "") for name in KEYS}
        super().__init__(request, *args, **kwargs)
        # Django's own column of boxes has a head that needs its script.
        self.list_display = [TICK if name == BOXES else name for name in self.list_display]
        self.title = self.model_admin.list_name or str(capfirst(self.opts.verbose_name_plural))

    def get_filters_params(self, params: Any = None) -> Any:
        lookups = super().get_filters_params(params)
        return {name: value for name, value in lookups.items() if name not in KEYS}

    def get_filters(self, request: HttpRequest) -> Any:
        offered = self.model_admin.filter_names(request)
        unknown = sorted(self.get_filters_params().keys() - offered)
        if unknown:
            can = f"only by {', '.join(sorted(offered))}" if offered else "it has no filters"
            raise BadRequest(f"This list is not filtered by {unknown[0][:100]}; {can}.")
        if any(len(str(value)) > LONGEST_VALUE for value in request.GET.values()):
            raise BadRequest(f"A filter has at most {LONGEST_VALUE} characters.")
        return super().get_filters(request)

    def get_results(self, request: HttpRequest) -> None:
        self.paginator = self.model_admin.get_paginator(request, self.queryset, self.list_per_page)
        page = page_by_key(
            self.queryset,
            **self.keys,
            size=self.list_per_page,
            descending=self.model_admin.newest_first,
            keys_first=self.model_admin.keys_first,
        )
        self.result_list = page.rows
        self.result_count = self.full_result_count = self.paginator.count
        self.count_text = format_count(self.result_count)
        self.show_full_result_count = self.show_admin_actions = bool(page.rows)
        self.can_show_all = self.multi_page = False
        self.before_url, self.after_url = (
            self._url("before", page.before),
            self._url("after", page.after),
        )

    def _url(self, name: str, key: str | None) -> str | None:
        return None if key is None else self.get_query_string({name: key}, remove=list(KEYS))


class RawList(admin.ModelAdmin):
    """Roles with `view_action` see the rows, roles with `change_action` change them."""

    view_action: str
    change_action: str | None = None
    may_add = False
    may_delete = False
    newest_first = True
    keys_first = False  # for tables whose filters may match only rare old rows
    list_name = ""  # if people use another word than the model's plural
    row_actions: tuple[RowAction, ...] = ()
    operate_action: str | None = None  # the least that one of them needs
    editable: tuple[str, ...] = ()  # fields that `save_changes` stores by their operation

    actions = None
    sortable_by = ()
    list_per_page = 50
    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER

    @property
    def change_list_template(self) -> list[str] | None:  # type: ignore[override]
        """Return the page for the admin of a project, which has no links to pages by key."""
        return HOSTED_LIST if settings.ATRIBUTO.is_hosted else None

    def get_ordering(self, request: HttpRequest) -> tuple[str]:
        return ("-pk" if self.newest_first else "pk",)

    def get_urls(self) -> list[URLPattern]:
        """Leave out Django's old addresses of rows, which have no name and check no permission."""
        return [url for url in super().get_urls() if url.name]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return KeysetChangeList

    def filter_names(self, request: HttpRequest) -> set[str]:
        """Return the names that the filters beside the list put into its address."""
        names: set[str] = set()
        for each in self.get_list_filter(request):
            if isinstance(each, type) and issubclass(each, SimpleListFilter):
                names.add(str(each.parameter_name))
            else:
                names |= set(_of_field(self, request, str(each)).expected_parameters())
        return names

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Allow only the offered filters: any other look-up would reveal hidden fields."""
        return request is not None and lookup in self.filter_names(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may(request.user, self.view_action)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.change_action is not None and may(request.user, self.change_action)

    def may_operate(self, request: HttpRequest) -> bool:
        return self.operate_action is not None and may(request.user, self.operate_action)

    def get_actions(self, request: HttpRequest, action_location: Any = None) -> dict[str, Any]:
        """Return the actions on ticked rows that this person may do, as Django wants them.

        Django 6.1 also asks for those of a row's own page, where we have none.
        """
        if action_location is not None and action_location.name != "CHANGE_LIST":
            return {}
        allowed = [each for each in self.row_actions if may(request.user, each.action)]
        return {each.name: (each, each.name, each.label) for each in allowed}

    def response_action(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Act on ticked rows only: what matches a filter may be millions."""
        if request.POST.get("select_across", "0") not in ("", "0"):
            raise BadRequest("Select the rows: a raw list changes only what its page shows.")
        return super().response_action(request, *args, **kwargs)

    @admin.display(description="Select")
    def tick(self, obj: Any) -> str:
        box = '<input type="checkbox" name="{}" value="{}" aria-label="Select {}">'
        label = f'<label class="choose">{box}</label>'
        return format_html(label, ACTION_CHECKBOX_NAME, obj.pk, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show all other fields of a list with `editable` as text."""
        if not self.editable:
            return super().get_readonly_fields(request, obj)
        names = [each.name for each in self.opts.fields if each.name not in (self.exclude or ())]
        return [name for name in names if name not in self.editable]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Read numbers as strictly as every other form does."""
        if isinstance(db_field, IntegerField) and not db_field.choices:
            kwargs.setdefault("form_class", WholeNumber)
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Leave transactions to the operation, which takes its locks in its own order."""
        if not self.editable or request.method != "POST":
            return super().changeform_view(request, *args, **kwargs)
        try:
            return self._changeform_view(request, *args, **kwargs)  # type: ignore[attr-defined]
        except AtributoError as error:
            messages.error(request, f"Nothing was changed: {error}")
            return redirect(request.get_full_path())

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not self.editable:
            return super().save_model(request, obj, form, change)
        return self.save_changes(obj, {name: form.cleaned_data[name] for name in form.changed_data})

    def save_changes(self, obj: Any, changes: dict[str, Any]) -> None:
        """Store what a person changed in `editable`, and leave the event."""
        raise NotImplementedError

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.may_add and self.has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.may_delete and self.has_change_permission(request, obj)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        columns = list(super().get_list_display(request))
        return [*columns, "screen"] if self._has_screens() else columns

    def get_view_on_site_url(self, obj: Model | None = None) -> str | None:
        return obj.get_absolute_url() if obj and self._has_screens() else None  # type: ignore[attr-defined]

    def _has_screens(self) -> bool:
        """Return whether the rows have pages; a project may have left out our addresses."""
        try:
            return hasattr(self.model, "get_absolute_url") and bool(prefix())
        except NoReverseMatch:
            return False

    @admin.display(description="Screen")
    def screen(self, obj: Any) -> str:
        return format_html('<a href="{}">Open</a>', obj.get_absolute_url())

    def subject_of(self, obj: Any) -> str:
        """Return the subject of events about this row."""
        return f"{self.opts.model_name}:{obj.pk}"

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        record(f"{self.opts.model_name}.added", self.subject_of(obj))
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        if not self.editable:  # else the operation has left its event
            record(f"{self.opts.model_name}.changed", self.subject_of(obj), changes=message)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet) -> Any:
        for obj in queryset:
            record(f"{self.opts.model_name}.deleted", self.subject_of(obj))
        return super().log_deletions(request, queryset)


def _of_field(raw_list: RawList, request: HttpRequest, name: str) -> Any:
    """Make Django's own filter of a field, with nothing chosen."""
    field: Any = raw_list.opts.get_field(name)
    return FieldListFilter.create(field, request, {}, raw_list.model, raw_list, field_path=name)
