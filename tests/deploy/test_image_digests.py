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
from tools.image_digests import COMPOSE, RegistryError, main, manifest_url, pin, unpinned

TOKEN = "anybody's"


class Registry(BaseHTTPRequestHandler):
    """Answers as the specification of OCI says, to who brings the token that anybody gets. Two images, one forged."""

    manifests = {"/v2/hub/valkey/manifests/8": b'{"schemaVersion": 2}', "/v2/hub/forged/manifests/1": b"{}"}

    def do_GET(self) -> None:
        body = self.manifests.get(self.path)
        if self.path.startswith("/token?"):
            assert self.path == "/token?service=here&scope=repository%3Ahub%2Fvalkey%3Apull"
            self._answer(200, json.dumps({"token": TOKEN}).encode())
        elif body is None:
            self._answer(404, b"{}")
        elif "forged" in self.path:
            self._answer(200, body, **{"Docker-Content-Digest": "sha256:" + "0" * 64})
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
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def compose_file(folder: Path, **services: object) -> Path:
    file = folder / "docker-compose.yml"
    file.write_text(yaml.safe_dump({"services": services}))
    return file


def test_images_and_what_is_built_on_are_pinned_by_the_digest_of_what_the_registry_sends(registry, tmp_path):
    named = f"{registry}/hub/valkey:8"
    built = {"build": {"context": ".", "args": {"BASE_IMAGE": named}}, "image": "hub:local"}
    compose, over = compose_file(tmp_path, web=built, valkey={"image": named}), tmp_path / "digests.yml"
    assert [line.partition(":")[0] for line in unpinned([compose])] == ["valkey", "web"]
    pin(compose, over)
    pinned = f"{named}@sha256:{hashlib.sha256(Registry.manifests['/v2/hub/valkey/manifests/8']).hexdigest()}"
    written = yaml.safe_load(over.read_text())["services"]
    assert written == {"web": {"build": {"args": {"BASE_IMAGE": pinned}}}, "valkey": {"image": pinned}}
    assert unpinned([compose, over]) == []
    assert main(["--check", str(compose), str(over)]) == 0
    compose_file(tmp_path, web=built, valkey={"image": f"{registry}/hub/valkey:9"})
    (stale,) = unpinned([compose, over])
    assert stale.startswith("valkey: ")
    assert "hub/valkey:9" in stale


@pytest.mark.parametrize(("image", "said"), [("hub/forged:1", "sends what has the digest"), ("hub/none:1", "404")])
def test_what_a_registry_does_not_have_or_forges_is_named_and_nothing_is_written(registry, tmp_path, image, said):
    compose = compose_file(tmp_path, one={"image": f"{registry}/{image}"})
    with pytest.raises(RegistryError, match=said):
        pin(compose, tmp_path / "digests.yml")
    assert not (tmp_path / "digests.yml").exists()


@pytest.mark.parametrize(
    ("image", "url"),
    [
        ("redis:8-alpine", "https://registry-1.docker.io/v2/library/redis/manifests/8-alpine"),
        ("minio/mc", "https://registry-1.docker.io/v2/minio/mc/manifests/latest"),
        ("quay.io/a/b:1", "https://quay.io/v2/a/b/manifests/1"),
        ("localhost:5000/a", "http://localhost:5000/v2/a/manifests/latest"),
    ],
)
def test_a_name_leads_to_its_registry(image, url):
    assert manifest_url(image) == url


def test_the_check_names_every_image_of_the_compose_file_that_has_no_digest(capsys):
    assert main(["--check", str(COMPOSE)]) == 1
    said = capsys.readouterr().err
    for service in yaml.safe_load(COMPOSE.read_text())["services"]:
        assert f"{service}: " in said
    assert image_digests.PINNED.name in said
