"""Raw lists of tokens and, on a site of our own, of users and their roles."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.forms import CheckboxSelectMultiple
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from atributo_site.models import TokenScope
from atributo_site.web import tokens
from atributo_site.web.raw_lists import RawList


class UserList(RawList, UserAdmin):
    """List the users. One who leaves is made inactive, not deleted: events still name them."""

    view_action = change_action = "user.administer"
    may_add = True
    newest_first = False
    list_display = ["username", "email", "roles", "is_active", "last_login"]
    list_filter = ["is_active"]
    search_fields = ["username", "email"]
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ["username"]}),
        ("Person", {"fields": ["first_name", "last_name", "email"]}),
        ("Access", {"fields": ["is_active", "groups"]}),
    )
    add_fieldsets = (
        (
            None,
            {
                "classes": ["wide"],
                "fields": ["username", "usable_password", "password1", "password2"],
            },
        ),
    )

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return [*super().get_list_display(request), "screen"]

    def get_view_on_site_url(self, obj: Any = None) -> str | None:
        return None if obj is None else reverse("atributo:system-user", args=[obj.pk])

    @admin.display(description="Screen")
    def screen(self, obj: Any) -> str:
        return format_html('<a href="{}">Open</a>', self.get_view_on_site_url(obj))

    def formfield_for_manytomany(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        """Offer the roles as boxes to tick, which need no key to be held."""
        kwargs["widget"] = CheckboxSelectMultiple
        field = super().formfield_for_manytomany(db_field, request, **kwargs)
        field.label, field.help_text = "Roles", "The highest one counts."  # type: ignore[union-attr]
        return field

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).prefetch_related("groups")

    @admin.display(description="Roles")
    def roles(self, user: User) -> str:
        names = [group.name for group in user.groups.all()]
        return ", ".join(["superuser"] * user.is_superuser + names) or "none"

    def subject_of(self, obj: User) -> str:
        return f"user:{obj.get_username()}"


class RoleList(RawList):
    """Show the roles and their permissions, which are part of the program and cannot be changed."""

    view_action = "user.administer"
    list_name = "Roles"
    newest_first = False
    filter_horizontal = ()


@admin.register(TokenScope)
class TokenList(RawList):
    """List everybody's tokens without their hashes; deleting a token ends it."""

    view_action = change_action = "user.administer"
    list_name = "Tokens"
    may_delete = True
    list_display = ["name", "owner", "level", "source", "made", "expiry", "last_used_at"]
    list_select_related = ["token__user"]
    list_filter = ["level", "source"]
    fields = ("name", "owner", "level", "source", "made", "expiry", "last_used_at")
    readonly_fields = fields

    def owner(self, scope: TokenScope) -> str:
        return scope.token.user.get_username()

    def made(self, scope: TokenScope) -> Any:
        return scope.token.created

    def expiry(self, scope: TokenScope) -> Any:
        return scope.token.expiry

    def delete_model(self, request: HttpRequest, obj: TokenScope) -> None:
        tokens.end(obj)


if not settings.ATRIBUTO.is_hosted:  # a project has lists of its own people
    admin.site.register(User, UserList)
    admin.site.register(Group, RoleList)
