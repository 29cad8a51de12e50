"""The REST doors of instances, allocations and job ids: they parse, ask the operations behind them
and answer.
"""
