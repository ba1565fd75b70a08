"""A page in a real browser without a driver: a wrapper page runs a script in it, and is dumped."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next((path for name in NAMES if (path := shutil.which(name))), None)

CATCH = (
    "<script>window.faults=[];window.addEventListener('error',e=>faults.push(String(e.message)));"
    "const say=console.error;console.error=(...a)=>{faults.push(a.join(' '));say(...a)};</script>"
)


def in_browser(page: str, script: str, width: int, folder: Path) -> Any:
    """What the JavaScript expression ``script`` is worth inside ``page``, in a frame of ``width``
    pixels.

    The expression sees the page's own ``window`` and ``document``; ``window.faults`` lists errors
    since it was loaded.
    """
    assert BROWSER is not None
    (folder / "page.html").write_text(page.replace("<head>", "<head>" + CATCH, 1), "utf-8")
    (folder / "wrapper.html").write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><iframe src="page.html" width="{width}" '
        'height="800" style="border:0">'
        "</iframe><pre></pre><script>onload=()=>{const w=frames[0];"
        f"document.querySelector('pre').textContent=JSON.stringify(w.eval({json.dumps(script)}))}}</script>",
        "utf-8",
    )
    options = "--headless --no-sandbox --disable-gpu --allow-file-access-from-files --dump-dom"
    profile = f"--user-data-dir={folder / 'profile'}"
    address = (folder / "wrapper.html").as_uri()
    command = [BROWSER, *options.split(), profile, "--virtual-time-budget=5000", address]
    dumped = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    match = re.search(r"<pre>(.*)</pre>", dumped, re.DOTALL)
    assert match is not None, dumped[-500:]
    return json.loads(html.unescape(match[1]))
