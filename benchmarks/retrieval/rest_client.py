"""The client that measures REST: a process of its own, since it would wait for the hub's interpreter otherwise."""

from __future__ import annotations

import http.client
import json
import sys


def main() -> None:
    """Post each line of standard input to /api/v1/search; a line of output says that it was answered."""
    port, token = sys.argv[1:]
    client = http.client.HTTPConnection("127.0.0.1", int(port))
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    for body in sys.stdin:
        client.request("POST", "/api/v1/search", body.encode(), headers)
        answer = client.getresponse()
        text = answer.read()
        print(json.dumps({"status": answer.status, "body": text[:300].decode(errors="replace")}), flush=True)


if __name__ == "__main__":
    main()
