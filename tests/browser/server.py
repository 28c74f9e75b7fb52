# SPDX-License-Identifier: BSD-3-Clause
"""server.py ADDRESS: what `sight view` must refuse or bear. Prints "ok NAME" or "not ok NAME"."""
import http.client
import json
import socket
import sys
import time
from urllib.parse import urlsplit

address = urlsplit(sys.argv[1])
host, port, base = address.hostname, address.port, address.path
token = base.strip("/")


def ok(good, name):
    print("ok" if good else "not ok", name, flush=True)


def ask(path, method="GET", headers=None, body=None):
    connection = http.client.HTTPConnection(host, port, timeout=20)
    connection.putrequest(method, path, skip_host="Host" in (headers or {}), skip_accept_encoding=True)
    for name, value in (headers or {}).items():
        connection.putheader(name, value)
    if body:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer, content


def status(path, method="GET", **more):
    return ask(path, method, **more)[0].status


def lives():
    start = time.monotonic()
    answer, content = ask(base + "meta")
    return answer.status == 200 and json.loads(content)["rows"] > 0 and time.monotonic() - start < 5


answer, content = ask(base)
ok(answer.status == 200 and content.startswith(b"<!DOCTYPE html>"), "the page")
policy = answer.getheader("Content-Security-Policy") or ""
ok("default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy, "its policy permits its own files alone")
ok(answer.getheader("X-Content-Type-Options") == "nosniff" and answer.getheader("Referrer-Policy") == "no-referrer", "no sniffing, and the address is not revealed")
ok(len(token) == 32 and set(token) <= set("0123456789abcdef"), "the token has 128 bits")
size = sum(len(ask(base + part)[1]) for part in ("", "style.css", "timeline.js"))
ok(size < 128000, f"the page is below 128 kB: {size}")

wrong = ["/", "/meta", "/" + "0" * 32 + "/", "/" + "0" * 32 + "/meta", "/" + token[:-1] + "/", "/" + token, "/" + token[:-1] + ("0" if token[-1] != "0" else "1") + "/meta", "//" + token + "/", "/" + token.upper() + "x/"]
ok(all(status(path) == 403 for path in wrong), "without the token: refused")
outside = ["../", "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "style.css/../meta", "./meta", "/etc/passwd", "page.html", "meta/", "\\..\\x"]
ok(all(status(base + path) in (400, 403, 404) for path in outside), "no path outside of its own")
methods = ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "BREW"]
ok(all(status(base + "meta", method, body=b"x=1" if method == "POST" else None) == 405 for method in methods), "only GET")

long_text = "9" * 5000
bad = ["tile", "tile?shift=-1&fold=0&index=0&block=0", "tile?shift=99&fold=0&index=0&block=0", "tile?shift=3&fold=25&index=0&block=0",
       "tile?shift=3&fold=0&index=9223372036854775807&block=0", "tile?shift=40&fold=0&index=0&block=16777215", "tile?shift=3&fold=0&index=99999999999999999999&block=0",
       "tile?shift=3&fold=0&index=0&block=1e3", "tile?shift=3&fold=0&index=0&block=0&order=size",
       "window?from=5&to=2&first=0&count=1", "window?from=0&to=9223372036854775807&first=0&count=1", "window?from=0&to=1&first=8&count=8",
       "window?from=0&to=1&first=0&count=" + long_text, "window?from=0&to=1&first=-1&count=1", "statistics?from=a&to=1&first=0&count=1",
       "search?name=" + "x" * 201, "search?tag=99999999999", "detail?row=0&from=-5&depth=0", "detail?row=9999&from=0&depth=0", "order?order=none"]
ok(all(status(base + path) in (400, 404) for path in bad), "parameters out of bounds: refused")
ok(status(base + "chart?name=../../x") == 404 and status(base + "chart") in (404, 503), "charts that are none")
ok(lives(), "it lives after that")


def raw(data, read=True):
    link = socket.create_connection((host, port), timeout=20)
    try:
        link.sendall(data)
        return link.recv(65536) if read else b""
    except OSError:
        return b""
    finally:
        link.close()


raw(b"GET /" + b"a" * 300000 + b" HTTP/1.1\r\n\r\n")
raw(b"GET " + base.encode() + b"meta HTTP/1.1\r\n" + b"X: " + b"y" * 300000 + b"\r\n\r\n")
raw(b"\0\xff" * 4000)
raw(b"GET " + base.encode() + b"tile?" + b"&".join(b"p%d=1" % i for i in range(3000)) + b" HTTP/1.1\r\n\r\n")
raw(b"POST " + base.encode() + b" HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n" + b"x" * 100000, read=False)
ok(lives(), "overlong requests and noise: it lives")

def slow_connections(count):
    links = []
    for i in range(count):
        link = socket.create_connection((host, port), timeout=20)
        link.sendall(b"GET " + base.encode() + b"meta HTT")
        links.append(link)
    return links


def alive(links, drip=b""):
    """How many of them the server has not hung up on; sends them some more."""
    count = 0
    for link in links:
        link.settimeout(0.001)
        try:
            if drip:
                link.sendall(drip)
            count += link.recv(1) != b""
        except TimeoutError:
            count += 1
        except OSError:
            pass
    return count


slow = slow_connections(100)
ok(lives(), "100 connections that do not end their requests: it answers others")
answers = 0
for link in slow:
    link.sendall(b"P/1.1\r\nHost: " + host.encode() + b"\r\nConnection: close\r\n\r\n")
for link in slow:
    answers += link.recv(64).startswith(b"HTTP/1.1 200")
    link.close()
ok(answers == 100, f"and answers them when they do: {answers}")

# More than there are places for, a byte each second: none is kept out, and none stays longer than ten seconds.
slow = slow_connections(400)
ok(lives(), "400 connections that do not end their requests: it answers others")
left = alive(slow, b"P")
ok(100 <= left <= 130, f"the oldest have made room: {left} are left")
begin = time.monotonic()
while alive(slow, b"x") and time.monotonic() - begin < 30:
    time.sleep(1)
took = time.monotonic() - begin
ok(took < 20, f"a request that comes byte by byte is given up: after {took:.0f} s")
for link in slow:
    link.close()

names = ["localhost", "localhost:1", "127.0.0.1", "[::1]:80", socket.gethostname()]
ok(all(status(base + "meta", headers={"Host": name}) == 200 for name in names), "hosts that are this machine")
foreign = ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "[evil]", "", "x" * 300]
ok(all(status(base + "meta", headers={"Host": name}) == 403 for name in foreign), "hosts that others can name: refused")

flood = []
try:
    for i in range(600):
        flood.append(socket.create_connection((host, port), timeout=1))
except OSError:
    pass
for link in flood:
    link.close()


def lives_again(seconds):
    """Connections beyond the limit are refused until those that were given up are gone."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            return lives()
        except OSError:
            time.sleep(0.2)
    return False


ok(lives_again(10), f"{len(flood)} connections at once: it lives")
unread = socket.create_connection((host, port))
unread.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
unread.sendall((f"GET {base}timeline.js HTTP/1.1\r\nHost: {host}\r\n\r\n" * 50).encode())
ok(lives_again(10), "one that does not read: others are answered")
unread.close()
