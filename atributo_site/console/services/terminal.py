"""Write a script's form as commands and curls, and as an address that fills it in."""

import json
import shlex
from typing import Any
from urllib.parse import quote, urlencode

from django.http import HttpRequest
from django.urls import reverse

from atributo_site.console.base.terminal import curl
from atributo_site.console.push.forms import DEFAULT_QUEUE, PushForm
from atributo_site.console.push.schema_example import example
from atributo_site.console.push.schema_fields import PREFIX
from atributo_site.console.push.schema_form import WHOLE, SchemaForm
from atributo_site.console.push.terminal import push_command, push_curl
from atributo_site.core.redaction import unfilled
from queues.models import Script
from queues.queries.presenters import masked_by_schema

LONGEST_ADDRESS = 4000


def terminal(script: Script, data: Any, push: PushForm) -> dict[str, str]:
    """Return the commands with the given data, without its secrets, or with an example."""
    schema, name = script.schema, {"mount": script.service.mount, "name": script.name}
    masked = example(schema) if data is None else masked_by_schema(data, schema)
    text = json.dumps(masked, ensure_ascii=False)
    queue = push["queue"].value() or DEFAULT_QUEUE
    options = push.options()
    run = f"/api/v1/services/scripts/{quote(script.name, safe='')}"
    return {
        "run": shlex.join(["manage.py", "script", name["mount"], name["name"], "--data", text]),
        "curl": curl(f"{run}?{urlencode({'mount': name['mount']})}", "POST", masked),
        "push": push_command(queue, name, text, options),
        "push_curl": push_curl(queue, name, masked, options),
    }


def address(script: Script, data: Any, push: PushForm, **more: str) -> str:
    """Return an address that fills in the form, without secrets; empty if it would be too long."""
    page = reverse("atributo:script", args=[script.service.mount, script.name])
    typed = {**more, **_fields(script.schema, data), **push.given()}
    url = f"{page}?{urlencode(typed)}" if typed else page
    return url if len(url) <= LONGEST_ADDRESS else ""


def _fields(schema: Any, data: Any) -> dict[str, str]:
    if data is None:
        return {}
    masked = unfilled(masked_by_schema(data, schema))
    form = SchemaForm(schema, masked)
    if form.whole:
        return {WHOLE: json.dumps(masked, ensure_ascii=False)}
    texts = {
        each.input_name: ("yes" if each.checked else "") if each.kind == "checkbox" else each.value
        for each in form.inputs()
    }
    return {name: text for name, text in texts.items() if text}


def given_data(request: HttpRequest) -> dict[str, str]:
    """Return the data in the address, such as ?data-to=…, which fills the form."""
    names = (name for name in request.GET if name == WHOLE or name.startswith(PREFIX))
    return {name: request.GET[name] for name in names}
