"""The project's own users."""

from django.contrib.auth.models import AbstractUser


class Member(AbstractUser):
    pass
