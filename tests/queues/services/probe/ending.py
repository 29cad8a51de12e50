"""Ends as it is told: later, for good, or with a delay of its own."""


def run(context):
    order = context.argv[0]
    if context.job["attempt"] > order.get("times", 1):
        return "done"
    if "write" in order:
        context.transaction().put("ending", order["write"], {"n": 1})
    try:
        getattr(context, order["end"])(*order.get("with", []), **order.get("by", {}))
    except Exception as error:
        return f"caught {error}"
