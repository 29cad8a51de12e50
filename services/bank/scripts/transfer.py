"""Change two balances and push a receipt together, or none of them."""

import time


class Overdrawn(Exception):
    status_code = 409


def run(context):
    (order,) = context.argv
    accounts = context.collection_name("accounts")
    with context.transaction(wait=2) as txn:
        source = change(txn, accounts, order["from"], -order["amount"])
        pause(context, order, 50, "taken")
        target = change(txn, accounts, order["to"], order["amount"])
        pause(context, order, 100, "given")
        if source["balance"] < 0:
            raise Overdrawn(f"{order['from']} has too little for {order['amount']}")
        context.push("receipt", {"from": order["from"], "to": order["to"], "sum": order["amount"]})
    return {order["from"]: source["balance"], order["to"]: target["balance"]}


def change(txn, accounts, name, amount):
    account = txn.get(accounts, name).json
    account["balance"] += amount
    account["transfers"] += 1
    txn.put(accounts, name, account)
    return account


def pause(context, order, percent, note):
    context.progress(percent, note)
    time.sleep(order["pause_ms"] / 1000)
