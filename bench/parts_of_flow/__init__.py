"""The parts of `bench.flow`. Each tells its figures and returns how many bars it missed."""


def told(what: str, figure: str, kept: bool, bar: str) -> int:
    """Print one line; return 1 for a bar that was missed."""
    print(f"  {what:44}{figure:>26}   {bar}: {'kept' if kept else 'MISSED'}", flush=True)
    return int(not kept)
