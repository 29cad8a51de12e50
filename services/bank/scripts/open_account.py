"""Open an account; an existing one stays as it is."""


def run(context):
    (order,) = context.argv
    account = {"owner": order["owner"], "balance": order["balance"], "transfers": 0}
    accounts = context.collection_name("accounts")
    opened = context.client.put(accounts, order["owner"], account, ref=False)
    return {"opened": opened.ok}
