"""Open the first accounts; those that are there already stay as they are."""

BALANCES = {"ada": 1000, "grace": 1000, "edsger": 50}


def run(context):
    for name, balance in BALANCES.items():
        account = {"owner": name, "balance": balance, "transfers": 0}
        context.client.put(context.collection_name("accounts"), name, account, ref=False)
