"""Write one file per mail. A retried run writes the same file again, so no mail is sent twice."""

from email.message import EmailMessage
from pathlib import Path
from uuid import uuid4


def run(context):
    mail = context.argv[0]
    message = EmailMessage()
    message["From"] = context.service.configuration["sender"]
    message["To"] = mail["to"]
    message["Subject"] = mail["subject"]
    message.set_content(mail["body"])

    name = context.job["id"] if context.job else uuid4().hex
    path = Path(context.service.configuration["outbox"]) / f"{name}.eml"
    if not context.dry_run:
        path.write_bytes(bytes(message))
        context.log(f"wrote {path}")
    return {"file": str(path)}
