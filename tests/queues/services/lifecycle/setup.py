def run(context):
    settings = context.service.configuration
    with open(settings["file"], "a") as file:
        file.write(f"setup {settings['colour']} {context.collection_name('texts')}\n")
    if settings["fail"] == "setup":
        raise ValueError("setup told to fail")
