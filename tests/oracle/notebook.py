#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A notebook's cells, run one after the other in its directory, without Jupyter.

    notebook.py NOTEBOOK            what each cell prints must be what the notebook has; cells with the tag "varies", which
                                    print what the diagnosis says in its own words, must only run
    notebook.py --write NOTEBOOK    puts what they print into the notebook
"""
import contextlib
import io
import json
import os
import sys


def printed(cell, names):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("".join(cell["source"]), "<cell %s>" % cell["id"], "exec"), names)
    return out.getvalue()


def main():
    write, path = sys.argv[1:2] == ["--write"], os.path.abspath(sys.argv[-1])
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    assert notebook["nbformat"] == 4
    os.chdir(os.path.dirname(path))
    names, wrong, cells = {"__name__": "__main__"}, 0, [c for c in notebook["cells"] if c["cell_type"] == "code"]
    for number, cell in enumerate(cells, 1):
        text = printed(cell, names)
        stored = "".join("".join(output["text"]) for output in cell["outputs"])
        if write:
            cell["execution_count"] = number
            cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": text.splitlines(True)}] if text else []
        elif text != stored and "varies" not in cell["metadata"].get("tags", []):
            wrong += 1
            print("# cell %s prints\n%s\n# but the notebook has\n%s" % (cell["id"], text, stored))
    if write:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(notebook, file, indent=1, ensure_ascii=False)
            file.write("\n")
    sys.exit(wrong > 0 or len(cells) < 5)


main()
