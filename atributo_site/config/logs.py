"""Structured logs: one JSON line for each event, with the request id and without secrets."""

import logging.config
import sys
from http import HTTPStatus
from typing import Any

# For coloured traces, which are never printed here, structlog would load rich and all its parts
# into every process: as long as it looks for it, there is none.
_rich = sys.modules.get("rich")
sys.modules["rich"] = None  # type: ignore[assignment]
import structlog  # noqa: E402
from structlog.contextvars import merge_contextvars  # noqa: E402

if _rich is None:
    del sys.modules["rich"]
else:
    sys.modules["rich"] = _rich

from atributo_site.core.redaction import masked  # noqa: E402
from atributo_site.core.text import harmless  # noqa: E402

# What structlog gives to the standard library's logger beside the message, and what records have.
OF_STRUCTLOG = ("event", "exc_info", "stack_info", "stacklevel", "stackLevel")
OF_RECORDS = {*vars(logging.makeLogRecord({})), "message", "asctime"}

as_json = structlog.processors.JSONRenderer(ensure_ascii=False)


def configure(level: str) -> None:
    structlog.configure(
        processors=[*_shared(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig(_standard_library(level))


def pass_on() -> None:
    """Hand our lines to the log of the project that we are in, which decides what becomes of them.

    A project that uses structlog itself has configured it: then that holds for us, too.
    """
    if structlog.is_configured():
        return
    structlog.configure(
        processors=[
            merge_contextvars,
            structlog.stdlib.filter_by_level,
            mask_secrets,
            tell_facts,
            structlog.stdlib.render_to_log_kwargs,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def mask_secrets(logger: Any, name: str, event: Any) -> Any:
    """Leave the exception itself: as a list it would be lost outside of its except block."""
    error = {"exc_info": event["exc_info"]} if "exc_info" in event else {}
    return {**masked(event), **error}


def tell_facts(logger: Any, name: str, event: Any) -> Any:
    """Put the facts into the message, which is all that the usual formats print.

    They stay attributes of the record. Those whose name the standard library keeps for itself get
    an underscore, since it raises KeyError for them.
    """
    facts = {key: value for key, value in event.items() if key not in OF_STRUCTLOG}
    told = " ".join(f"{key}={_on_one_line(value)}" for key, value in facts.items())
    own = {key: event[key] for key in OF_STRUCTLOG if key in event}
    extra = {f"{key}_" if key in OF_RECORDS else key: value for key, value in facts.items()}
    return {**extra, **own, "event": f"{event['event']} {told}".rstrip()}


def _on_one_line(value: Any) -> str:
    return harmless(str(value)).replace("\n", "\\n")


def is_news(record: logging.LogRecord) -> bool:
    """Keep out the 503: why the database cannot be used is logged once, not at each request."""
    return getattr(record, "status_code", 0) != HTTPStatus.SERVICE_UNAVAILABLE


def as_line(logger: Any, name: str, event: Any) -> str:
    """Write what strangers sent so that no terminal or viewer obeys it; it stays the same JSON."""
    return harmless(str(as_json(logger, name, event)))


def _shared() -> list[Any]:
    return [
        merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(allow=["request_id"]),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        mask_secrets,
    ]


def _standard_library(level: str) -> dict[str, Any]:
    final = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        as_line,
    ]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _shared(),
                "processors": final,
            }
        },
        "filters": {"news": {"()": lambda: is_news}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Otherwise every 4xx would have a line of its own beside the access line.
            "django.request": {"level": "ERROR", "filters": ["news"]},
            "uvicorn.access": {"level": "WARNING"},
        },
    }
