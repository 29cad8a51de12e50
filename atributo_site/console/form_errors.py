"""What is wrong with a form, as one sentence for a message."""

from django import forms


def said(form: forms.Form) -> str:
    """Each field by its name: printed as it is, an error list is HTML."""
    return " ".join(
        f"{form[name].label}: {error}" if name in form.fields else str(error)
        for name, errors in form.errors.items()
        for error in errors
    )
