# SPDX-License-Identifier: BSD-3-Clause
"""What a file written for another program has, as its oracle added it up, against the metrics of the trace."""


def compare(functions, sent, received, metrics, name_of):
    """functions: (rank, name) -> [calls, ns]; sent and received: (rank, partner, "messages" or "bytes") -> number;
    name_of: a function's name as the file can have it. Ends of messages may be missing, nothing else."""
    lone = 0
    for process in metrics["processes"]:
        rank = process["rank"]
        for row in process["functions"]:
            found = functions.pop((rank, name_of(row["name"])), [0, 0])
            assert found == [row["count"], row["time_s"] * 10**9], (rank, row, found)
        for side, key, partner in ((sent, "sent", "to"), (received, "received", "from")):
            for row in process[key]:
                found = side.pop((rank, row[partner], "messages"), 0)
                lone += row["messages"] - found
                assert found <= row["messages"], (rank, key, row, found)
                assert side.pop((rank, row[partner], "bytes"), 0) <= row["bytes"]
    assert not any(sent.values()) and not any(received.values())
    assert not functions, dict(functions)
    if lone:
        print("%d ends without the other" % lone)
