"""A callback: notes its three arguments."""

import json


def run(context):
    result, data, job = context.argv
    if "document" in data:
        with open(data["document"], "w") as file:
            json.dump(job, file)
    with open(data["calls"], "a") as file:
        file.write(json.dumps([result, job["id"], job["status"], job["runs"]]) + "\n")
    if data.get("call_fails"):
        raise ValueError("the callback failed")
