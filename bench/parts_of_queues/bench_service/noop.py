def run(context):
    return None
