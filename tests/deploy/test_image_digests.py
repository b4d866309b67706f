"""Images are pinned by what a registry sends, and what is not pinned is named."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from tools import image_digests
from tools.image_digests import COMPOSE, DOCKERFILE, images_of, main, manifest_url

TOKEN = "anybody's"
MANIFEST = b'{"schemaVersion": 2}'
DIGEST = f"sha256:{hashlib.sha256(MANIFEST).hexdigest()}"
OTHER = "sha256:" + "0" * 64


class Registry(BaseHTTPRequestHandler):
    """Answers as the specification of OCI says, to who brings the token that anybody gets. Two images, one forged."""

    manifests = {
        "/v2/hub/valkey/manifests/8": MANIFEST,
        f"/v2/hub/valkey/manifests/{DIGEST}": MANIFEST,
        "/v2/hub/forged/manifests/1": MANIFEST,
        f"/v2/hub/forged/manifests/{OTHER}": MANIFEST,
    }

    def do_GET(self) -> None:
        body = self.manifests.get(self.path)
        if self.path.startswith("/token?"):
            assert self.path == "/token?service=here&scope=repository%3Ahub%2Fvalkey%3Apull"
            self._answer(200, json.dumps({"token": TOKEN}).encode())
        elif body is None:
            self._answer(404, b"{}")
        elif "forged" in self.path:
            self._answer(200, body, **{"Docker-Content-Digest": OTHER})
        elif self.headers["Authorization"] != f"Bearer {TOKEN}":
            realm = f"http://{self.headers['Host']}/token"
            asked = f'Bearer realm="{realm}",service="here",scope="repository:hub/valkey:pull"'
            self._answer(401, b"{}", **{"WWW-Authenticate": asked})
        else:
            assert "application/vnd.oci.image.index.v1+json" in self.headers["Accept"]
            self._answer(200, body)

    def _answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_parts: object) -> None:
        """Say nothing."""


@pytest.fixture
def registry() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def compose(tmp_path, monkeypatch) -> Path:
    file = tmp_path / "docker-compose.yml"
    monkeypatch.setattr(image_digests, "COMPOSE", file)
    monkeypatch.setattr(image_digests, "DOCKERFILE", tmp_path / "Dockerfile")
    return file


def write_compose(file: Path, image: str, base: str) -> None:
    built = {"build": {"context": ".", "args": {"BASE_IMAGE": base}}, "image": "hub:local"}
    file.write_text(yaml.safe_dump({"services": {"web": built, "valkey": {"image": image}}}))
    file.with_name("Dockerfile").write_text(f"ARG BASE_IMAGE={base}\nFROM ${{BASE_IMAGE}}\n")


def test_a_changed_version_gets_the_digest_of_what_the_registry_sends_in_both_files(registry, compose, capsys):
    named = f"{registry}/hub/valkey:8"
    write_compose(compose, named, base=named)
    assert main(["--check", str(compose)]) == 1
    assert f"{named} has no digest" in capsys.readouterr().err
    assert main(["--write"]) == 0
    assert images_of(compose) == [f"{named}@{DIGEST}"]
    assert compose.with_name("Dockerfile").read_text().startswith(f"ARG BASE_IMAGE={named}@{DIGEST}\n")
    assert main(["--check", str(compose)]) == 0
    capsys.readouterr()
    assert main([]) == 0
    assert capsys.readouterr().out == f"{named}@{DIGEST}\n"


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ("hub/forged:1", "what it sends has the digest"),
        (f"hub/forged:1@{OTHER}", "what it sends has the digest"),
        ("hub/none:1", "404"),
        (f"hub/valkey:8@{OTHER}", "404"),
    ],
)
def test_what_a_registry_lacks_or_forges_is_named_and_nothing_is_written(registry, compose, capsys, image, said):
    write_compose(compose, f"{registry}/{image}", base=f"{registry}/hub/valkey:8")
    before = compose.read_bytes()
    assert main(["--write"]) == 1
    assert said in capsys.readouterr().err
    assert compose.read_bytes() == before


@pytest.mark.parametrize(
    ("image", "url"),
    [
        ("redis:8-alpine", "https://registry-1.docker.io/v2/library/redis/manifests/8-alpine"),
        (f"redis:8@{OTHER}", f"https://registry-1.docker.io/v2/library/redis/manifests/{OTHER}"),
        ("minio/mc", "https://registry-1.docker.io/v2/minio/mc/manifests/latest"),
        ("quay.io/a/b:1", "https://quay.io/v2/a/b/manifests/1"),
        ("localhost:5000/a", "http://localhost:5000/v2/a/manifests/latest"),
    ],
)
def test_a_name_leads_to_its_registry(image, url):
    assert manifest_url(image) == url


def test_every_image_of_the_compose_file_has_a_digest_and_the_dockerfile_the_same_base():
    assert main(["--check", str(COMPOSE)]) == 0
    base = yaml.safe_load(COMPOSE.read_text())["x-hub"]["build"]["args"]["BASE_IMAGE"]
    assert f"ARG BASE_IMAGE={base}\n" in DOCKERFILE.read_text()
