"""Write one receipt per job: a second run of the same job writes the same key."""


def run(context):
    receipts = context.collection_name("receipts")
    with context.transaction() as txn:
        txn.put(receipts, context.job["id"] if context.job else "example", context.argv[0])
