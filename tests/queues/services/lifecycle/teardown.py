def run(context):
    settings = context.service.configuration
    with open(settings["file"], "a") as file:
        file.write(f"teardown {settings['colour']} {context.collection_name('texts')}\n")
    if settings["fail"] == "teardown":
        raise ValueError("teardown told to fail")
