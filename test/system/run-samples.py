import contextlib
import io
import json
import os
import runpy
import sys

# Runs the Python samples that it reads the names of, and writes what each prints as one line.

for line in sys.stdin:
    sample = json.loads(line)
    os.environ.update(sample["environment"])
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(sample["file"], run_name="__main__")
    print(json.dumps(printed.getvalue()), flush=True)
