"""MCP clients sign in at the identity provider, by the SDK's own OAuth client, and leave when it says so."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.conftest import REPOSITORY
from tests.mcp_bridge.conftest import TestHub, TestSite, start_site, stdio_session, stop_site
from tests.mcp_bridge.test_http import upload
from tests.oidc_server import CLIENT, SECRET, OidcServer, Person, oidc_server

pytestmark = pytest.mark.anyio
BACK = "http://127.0.0.1:9/callback"
CHECK_S = 5
MAP_GROUP = """
import django
django.setup()
from django.contrib.auth.models import Group
from hub.access.provider_models import ProviderGroup
from knowledge.models import Collection, CollectionGrant
group = Group.objects.create(name="品質管理課")
collection = Collection.objects.create(slug="oauth", name="認証")
CollectionGrant.objects.create(collection=collection, group=group, role="reader")
ProviderGroup.objects.create(provider="office", value="qa", group=group)
"""
# A review that somebody holds for an hour: nobody works on it, so that it stays open.
HOLD_REVIEW = """
import sys
from datetime import timedelta
import django
django.setup()
from django.contrib.auth.models import Group
from django.utils import timezone
from hub.access.provider_models import ProviderGroup
from knowledge.models import Collection, CollectionGrant, Document
from review.models import CheckListVersion, Review
for name in ("left", "joined"):
    group = Group.objects.create(name=name)
    collection, _made = Collection.objects.get_or_create(slug=name, defaults={"name": name})
    CollectionGrant.objects.create(collection=collection, group=group, role="reader")
    ProviderGroup.objects.create(provider="office", value=name, group=group)
version = Document.objects.get(public_id=sys.argv[1]).current_version
print(Review.objects.create(
    version=version, document_id_text=sys.argv[1], version_number=version.number, status="running",
    checklist_version=CheckListVersion.objects.filter(status="approved").earliest("pk"),
    lease_token="held", lease_expires_at=timezone.now() + timedelta(hours=1),
).public_id)
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "試験", "version": "1"}},
}


@pytest.fixture(scope="module")
def provider() -> Iterator[OidcServer]:
    with oidc_server() as server:
        yield server


@pytest.fixture(scope="module")
def oauth_site(hub: TestHub, provider: OidcServer) -> Iterator[TestSite]:
    """A web server that takes the provider's tokens; its group qa may read in a collection."""
    subprocess.run([sys.executable, "-c", MAP_GROUP], env=hub.environment, cwd=REPOSITORY, check=True)
    site = start_site(hub, port=0, log=None, **settings_for(provider))
    provider.audience = f"{site.url}/mcp/rag/"
    yield site
    stop_site(site)


def settings_for(provider: OidcServer) -> dict[str, str]:
    configured = {"id": "office", "name": "庁内認証", "issuer": provider.issuer, "client_id": CLIENT}
    configured["client_secret"] = SECRET
    return {"HUB_OIDC_PROVIDERS": json.dumps([configured]), "HUB_OIDC_CHECK_S": str(CHECK_S)}


@pytest.fixture(scope="module")
def held(oauth_site: TestSite) -> dict[str, str]:
    """The ids of a document that the provider's group left may read, and of a review of it that stays open."""
    made = {"slug": "left", "name": "left"}
    httpx2.post(f"{oauth_site.url}/api/v1/collections", json=made, headers=oauth_site.headers()).raise_for_status()

    async def uploaded() -> dict[str, str]:
        async with oauth_site.client("core") as client:
            document: dict[str, str] = await upload(client, "異動.md", collection="left")
            return document

    document = asyncio.run(uploaded())
    command = [sys.executable, "-c", HOLD_REVIEW, document["document_id"]]
    done = subprocess.run(
        command, env=oauth_site.hub.environment, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True
    )
    return {"document": document["document_id"], "uri": document["resource_uri"], "review": done.stdout.strip()}


@pytest.fixture
def person(provider: OidcServer, request: pytest.FixtureRequest) -> Person:
    return provider.add(f"p{abs(hash(request.node.name)) % 10**8}", groups=["qa"])


class Storage:
    """What a client keeps of its sign-in, in memory."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def sdk_sign_in(url: str, storage: Storage) -> OAuthClientProvider:
    """The SDK's own client; a browser's part is done with the redirects alone."""
    arrived: dict[str, str] = {}

    async def visit(address: str) -> None:
        async with httpx2.AsyncClient() as browser:
            answer = await browser.get(address)
        query = parse_qs(urlsplit(answer.headers["location"]).query)
        arrived.update({name: values[0] for name, values in query.items()})

    async def come_back() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code=arrived["code"], state=arrived.get("state"), iss=arrived.get("iss"))

    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(BACK)], client_name="試験", scope="openid read search")
    return OAuthClientProvider(url, metadata, storage, redirect_handler=visit, callback_handler=come_back)


@asynccontextmanager
async def signed_in(url: str, storage: Storage, *, mode: str = "auto") -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(auth=sdk_sign_in(url, storage), timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


async def ask_for_ever(client: Client) -> None:
    while True:
        await client.list_resources()
        await asyncio.sleep(1)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_sdk_s_own_client_signs_in_at_the_provider_and_calls_tools(oauth_site, provider, person, mode):
    provider.person = person
    storage = Storage()
    async with signed_in(f"{oauth_site.url}/mcp/rag/", storage, mode=mode) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        counted = await client.call_tool("get_document_count", {})

    assert {"vector_search", "get_document_count"} <= tools
    assert counted.structured_content == {"documents": 0, "chunks": 0}
    assert storage.client is not None  # it registered itself
    assert provider.asked["/registration"]


async def test_the_metadata_name_the_real_issuer_and_the_challenge_leads_there(oauth_site, provider):
    answer = httpx2.post(f"{oauth_site.url}/mcp/rag/", json=INITIALIZE)
    url = answer.headers["WWW-Authenticate"].partition('resource_metadata="')[2].partition('"')[0]
    described = httpx2.get(url).json()
    assert answer.status_code == 401
    assert url == f"{oauth_site.url}/.well-known/oauth-protected-resource/mcp/rag/"
    assert described["resource"] == f"{oauth_site.url}/mcp/rag/"
    assert described["authorization_servers"] == [provider.issuer]
    assert httpx2.post(url).status_code == 405


async def test_without_a_provider_no_issuer_is_invented(site):
    described = httpx2.get(f"{site.url}/.well-known/oauth-protected-resource/mcp/rag/").json()
    assert "authorization_servers" not in described
    assert described["resource"] == f"{site.url}/mcp/rag/"


async def test_a_token_for_another_resource_is_refused(oauth_site, provider, person):
    token = provider.access_token(person, aud="https://elsewhere.example/mcp/")
    answer = httpx2.post(f"{oauth_site.url}/mcp/rag/", json=INITIALIZE, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 401


@pytest.mark.long
async def test_an_open_stream_ends_within_a_minute_of_the_deactivation(oauth_site, provider, person):
    headers = {"Authorization": f"Bearer {provider.access_token(person)}"}
    accept = {"Accept": "application/json, text/event-stream"}
    url = f"{oauth_site.url}/mcp/rag/"
    async with httpx2.AsyncClient(headers={**headers, **accept}, timeout=70) as http:
        begun = await http.post(url, json=INITIALIZE)
        session = {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-06-18"}
        async with http.stream("GET", url, headers=session) as stream:
            assert stream.status_code == 200
            person.is_active = False
            at = time.monotonic()
            async with asyncio.timeout(60):
                async for _line in stream.aiter_lines():
                    pass
            took_s = time.monotonic() - at
        refused = await http.post(url, json=INITIALIZE)
    assert took_s < 60
    assert refused.status_code == 401


async def test_stdio_takes_the_token_until_the_provider_takes_back_its_word(hub, oauth_site, provider, person):
    token = provider.access_token(person)
    server = hub.stdio("rag", "--token", token, **settings_for(provider), HUB_PUBLIC_URL=oauth_site.url)
    async with stdio_session(server) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} >= {"get_document_count"}
        person.is_active = False
        async with asyncio.timeout(60):
            with pytest.raises(MCPError, match="vouch"):
                await ask_for_ever(client)


async def test_the_open_stream_of_a_review_ends_when_its_reader_leaves_the_group(oauth_site, provider, person, held):
    person.groups = ["left"]
    headers = {"Authorization": f"Bearer {provider.access_token(person)}"}
    address = f"{oauth_site.url}/api/v1/reviews/{held['review']}"
    async with httpx2.AsyncClient(headers=headers, timeout=70) as http:
        async with http.stream("GET", f"{address}/events") as stream, asyncio.timeout(60):
            lines = stream.aiter_lines()
            assert await anext(lines) == "event: progress"
            person.groups = ["joined"]
            told = [line async for line in lines if line.startswith("data: ")]
        refused, others = await http.get(address), await http.get(f"{oauth_site.url}/api/v1/collections")
    state = httpx2.get(address, headers=oauth_site.headers()).json()
    assert state["status"] == "running"  # it was not its end that ended the stream
    assert len(told) == 1  # the state at the beginning
    assert refused.status_code == 404
    assert [one["slug"] for one in others.json()["items"]] == ["joined"]  # and they are still signed in


async def test_stdio_shows_what_the_group_of_now_gives(hub, oauth_site, provider, person, held):
    person.groups = ["left"]
    token = provider.access_token(person)
    server = hub.stdio("rag", "--token", token, **settings_for(provider), HUB_PUBLIC_URL=oauth_site.url)
    async with stdio_session(server) as client:
        assert (await client.call_tool("get_document_count", {})).structured_content["documents"] == 1
        person.groups = ["joined"]
        async with asyncio.timeout(60):
            while (counted := await client.call_tool("get_document_count", {})).structured_content["documents"]:
                await asyncio.sleep(1)
    assert not counted.is_error


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")
async def test_an_open_stream_of_mcp_says_nothing_of_what_a_group_gave(oauth_site, provider, person, held):
    person.groups = ["left"]
    headers = {"Authorization": f"Bearer {provider.access_token(person)}"}
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def on_message(message: object) -> None:
        uri = getattr(getattr(message, "params", None), "uri", None)
        heard.put_nowait(str(uri or getattr(message, "method", "")))

    async def until(wanted: str) -> list[str]:
        """What is heard until then."""
        before: list[str] = []
        async with asyncio.timeout(60):
            while (one := await heard.get()) != wanted:
                before.append(one)
        return before

    async def change(content: str) -> None:
        async with oauth_site.client("core") as other:
            await upload(other, "異動.md", collection="left", content=f"# 改版\n\n{content}\n")

    url = f"{oauth_site.url}/mcp/core/"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=70) as http,
        Client(streamable_http_client(url, http_client=http), mode="legacy", message_handler=on_message) as client,
    ):
        await client.list_tools()
        await client.subscribe_resource(held["uri"])
        person.groups = []
        await until("notifications/tools/list_changed")
        await change("異動のあと")
        with pytest.raises(MCPError):
            await client.read_resource(held["uri"])
        await client.list_tools()
        person.groups = ["left"]
        assert held["uri"] not in await until("notifications/tools/list_changed")
        await change("戻ったあと")
        await until(held["uri"])
