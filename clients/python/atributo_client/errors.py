"""Every error by its name: those of the site's rooms, and those of the way to it."""

from atributo_client.failures import *  # noqa: F403
from atributo_client.generated.errors import *  # noqa: F403
