# SPDX-License-Identifier: BSD-3-Clause
"""Drives a headless Chromium through chromedriver (Debian: chromium-driver), with Python's own library alone."""
import base64
import http.client
import json
import re
import subprocess
import tempfile


class Browser:
    """with Browser(1400, 900) as browser: browser.open(url); browser.run("return document.title")"""

    def __init__(self, width, height, dark=False, script=True):
        self.folder = tempfile.TemporaryDirectory(prefix="sight-browser.")
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.driver.stdout:
            started = re.search(r"started successfully on port (\d+)", line)
            if started:
                self.port = int(started[1])
                break
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={self.folder.name}",
                     f"--window-size={width},{height}", "--disable-background-networking", "--no-first-run"]
        if dark:
            arguments.append("--blink-settings=preferredColorScheme=0")
        if not script:
            arguments.append("--blink-settings=scriptEnabled=false")
        options = {"args": arguments, "prefs": {"download.default_directory": self.folder.name}}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        self.session = None
        self.session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.folder.cleanup()

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        prefix = f"/session/{self.session}" if self.session else ""
        connection.request(method, prefix + path, json.dumps(body) if method == "POST" else None,
                           {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())["value"]
        connection.close()
        if isinstance(answer, dict) and "error" in answer:
            raise RuntimeError(answer["message"].splitlines()[0])
        return answer

    def resize(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def command(self, name, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """The value of a script's `return`; a promise is waited for."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, seconds=20):
        """Until the expression is true."""
        return self.run("""const [text, seconds] = arguments;
            const test = new Function('return ' + text);
            return new Promise((resolve) => {
              const end = performance.now() + seconds * 1000;
              const look = () => { const value = test();
                if (value || performance.now() > end) resolve(Boolean(value)); else setTimeout(look, 30); };
              look();
            });""", script, seconds)

    def act(self, *actions):
        """Pointer actions: ("move", x, y), ("down",), ("up",), ("wheel", x, y, dy)."""
        pointer, wheel = [], []
        for action in actions:
            kind = action[0]
            if kind == "wheel":
                wheel.append({"type": "scroll", "x": action[1], "y": action[2], "deltaX": 0, "deltaY": action[3], "origin": "viewport"})
            elif kind == "move":
                pointer.append({"type": "pointerMove", "x": int(action[1]), "y": int(action[2]), "duration": 30})
            else:
                pointer.append({"type": "pointerDown" if kind == "down" else "pointerUp", "button": 0})
        sources = []
        if pointer:
            sources.append({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": pointer})
        if wheel:
            sources.append({"type": "wheel", "id": "wheel", "actions": wheel})
        self.call("POST", "/actions", {"actions": sources})

    def press(self, keys, hold=None):
        """Presses keys one after the other, e.g. "ww" or ["\\ue014"]."""
        actions = [{"type": "keyDown", "value": hold}] if hold else []
        for key in keys:
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        if hold:
            actions.append({"type": "keyUp", "value": hold})
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def click(self, selector):
        found = self.call("POST", "/element", {"using": "css selector", "value": selector})
        self.call("POST", f"/element/{next(iter(found.values()))}/click", {})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def console(self):
        """What the console has said since it was last asked."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def requests(self):
        """Addresses that were asked for since this was last called."""
        messages = [json.loads(entry["message"])["message"] for entry in self.call("POST", "/se/log", {"type": "performance"})]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
