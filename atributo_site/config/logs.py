"""Structured logs: one JSON line for each event, with the request id and without secrets."""

import logging.config
from typing import Any

import structlog
from structlog.contextvars import merge_contextvars

from atributo_site.core.redaction import masked


def configure(level: str) -> None:
    structlog.configure(
        processors=[*_shared(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig(_standard_library(level))


def mask_secrets(logger: Any, name: str, event: Any) -> Any:
    return masked(event)


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
        structlog.processors.JSONRenderer(ensure_ascii=False),
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
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Otherwise every 4xx would have a line of its own beside the access line.
            "django.request": {"level": "ERROR"},
            "uvicorn.access": {"level": "WARNING"},
        },
    }
