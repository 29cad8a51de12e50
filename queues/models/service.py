"""Services: folders with a manifest, installed at a mount; and their scripts."""

import secrets
from typing import Any

from django.db import models
from django.db.models.functions import Now
from django.urls import reverse

from queues.logic.manifest import filled_up, missing_options
from queues.logic.mounts import is_module, prefix

REVISIONS = 2**53


class Service(models.Model):
    mount = models.CharField(max_length=255, unique=True)
    folder = models.CharField(max_length=1024)
    name = models.CharField(max_length=128)
    version = models.CharField(max_length=64)
    description = models.TextField(default="", blank=True)
    definitions = models.JSONField(default=dict, blank=True)
    configuration = models.JSONField(default=dict, blank=True)
    development = models.BooleanField(default=False)
    revision = models.PositiveIntegerField(default=1)
    installed_at = models.DateTimeField(db_default=Now(), editable=False)
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["mount"]

    def __str__(self) -> str:
        return self.mount

    def get_absolute_url(self) -> str:
        return reverse("atributo:service", args=[self.mount])

    @property
    def has_functions(self) -> bool:
        """Whether it shows the declared functions of a module instead of a folder's scripts."""
        return is_module(self.mount)

    @property
    def prefix(self) -> str:
        return prefix(self.mount)

    def settings(self) -> dict[str, Any]:
        """Return its configuration, filled up with the manifest's defaults."""
        return filled_up(self.definitions, self.configuration)

    @property
    def missing_options(self) -> list[str]:
        """Return the required options without a value: none of its scripts runs meanwhile."""
        return missing_options(self.definitions, self.configuration)


class Script(models.Model):
    service = models.ForeignKey(Service, models.CASCADE, related_name="scripts")
    name = models.CharField(max_length=128)
    path = models.CharField(max_length=1024)
    title = models.CharField(max_length=255)
    description = models.TextField(default="", blank=True)
    schema = models.JSONField(null=True, blank=True)
    defaults = models.JSONField(default=dict, blank=True)
    record_start = models.BooleanField(default=False, db_default=False)  # before it begins
    limits = models.JSONField(null=True, blank=True)
    limits_by = models.CharField(max_length=255, default="", db_default="", blank=True)
    limits_at = models.DateTimeField(db_default=Now())
    declared_limits = models.JSONField(null=True, blank=True)  # while a person has set others
    threads = models.PositiveIntegerField(default=1, db_default=1)  # jobs at once in one process

    class Meta:
        ordering = ["service", "name"]
        constraints = [
            models.UniqueConstraint(fields=["service", "name"], name="script_name_once"),
        ]

    def __str__(self) -> str:
        return f"{self.service_id}/{self.name}"

    def keep(self, old: "Script") -> bool:
        """Keep limits that a person has set; True if the manifest has changed them meanwhile."""
        if self.limits == old.limits:
            return False
        is_other = self.limits != old.declared_limits
        self.declared_limits = self.limits
        self.limits, self.limits_by, self.limits_at = old.limits, old.limits_by, old.limits_at
        return is_other


class CatalogueQuerySet(models.QuerySet):
    def changed(self) -> None:
        """Tell every worker that its copy of the services is old."""
        self.update(revision=secrets.randbelow(REVISIONS))


class Catalogue(models.Model):
    """One row; every change to a service gives it a revision that it never had before."""

    revision = models.BigIntegerField(default=1)

    objects = CatalogueQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="catalogue_only_one"),
        ]

    def __str__(self) -> str:
        return str(self.revision)
