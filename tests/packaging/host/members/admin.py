"""The project's own list of its users."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from members.models import Member

admin.site.register(Member, UserAdmin)
