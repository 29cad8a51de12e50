"""What a program of the project does first: allocate, change documents, push a script and functions."""

import json

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client as Browser  # noqa: E402

import queues  # noqa: E402
from allocation.atributo import Atributo  # noqa: E402
from allocation.transactions import Client, Transaction  # noqa: E402
from members.tasks import greet, shout  # noqa: E402

call_command("instances", "available", "web-1")
call_command("service", "install", "multiplier", "/multiplier")
with Transaction(Client()) as txn:
    txn.put("accounts", "ann", {"balance": 7})
    txn.put("accounts", "bob", {"balance": 3})
queue = queues.create("mail")
job_id = queue.push({"mount": "/multiplier", "name": "multiply"}, [6, 7])
queue.push(greet, "Ann")
queues.create("default")
result = shout.enqueue("hey")
settings.ALLOWED_HOSTS = ["testserver"]
browser = Browser()
browser.force_login(get_user_model().objects.create_superuser("root", password="secret"))
level = {"name": "a program", "level": "operate", "days": 1}
made = browser.post("/ops/api/v1/tokens", level, content_type="application/json")
print(
    json.dumps(
        {
            "instance": Atributo().allocate("job0").instance_id,
            "balance": Client().get("accounts", "ann").json["balance"],
            "job": str(job_id),
            "task": result.id,
            "token": made.json()["token"],
        }
    )
)
