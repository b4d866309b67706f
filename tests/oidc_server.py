"""An identity provider that speaks OpenID Connect and OAuth 2.1, and misbehaves when a test says so.

``with oidc_server() as provider``: discovery, dynamic registration, the authorization code with PKCE (S256), codes that
are good for once, refresh tokens that rotate (a used one ends its family), userinfo, introspection, revocation, JWKS,
``end_session``. Whoever comes to /authorize is signed in as ``provider.person``, as by a session there.

``provider.people`` has the persons by subject. ``rotate`` signs with a new key from now on. ``is_away`` closes each
connection without an answer. ``tamper`` changes the claims of the next ID tokens; ``says`` has, by path, what is
sent in place of an answer, or raises ``OAuthError``. ``asked`` counts requests by path.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "hub", "ひみつ-of-the-hub"
LIFE_S = 300


@dataclass(kw_only=True)
class Person:
    """Somebody whom the provider knows; ``groups`` None: the claim is not sent."""

    subject: str
    username: str
    email: str = ""
    email_verified: bool = True
    groups: list[str] | None = field(default_factory=list)
    is_active: bool = True

    def claims(self) -> dict[str, Any]:
        told: dict[str, Any] = {"sub": self.subject, "preferred_username": self.username}
        if self.email:
            told |= {"email": self.email, "email_verified": self.email_verified}
        return told if self.groups is None else {**told, "groups": self.groups}


@cache
def private_key(number: int) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def public_jwk(number: int) -> dict[str, Any]:
    made = jwt.algorithms.RSAAlgorithm.to_jwk(private_key(number).public_key(), as_dict=True)
    return {**made, "kid": f"key-{number}", "use": "sig", "alg": "RS256"}


class OidcServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.issuer = f"http://127.0.0.1:{self.server_address[1]}"
        self.people: dict[str, Person] = {}
        self.person: Person | None = None
        self.clients: dict[str, dict[str, Any]] = {CLIENT: {"client_secret": SECRET, "redirect_uris": None}}
        self.codes: dict[str, dict[str, Any]] = {}
        self.families: dict[str, dict[str, Any]] = {}
        self.refresh_tokens: dict[str, str] = {}
        self.revoked: set[str] = set()
        self.asked: Counter[str] = Counter()
        self.is_away = False
        self.has_introspection = True
        self.tamper: Callable[[dict[str, Any]], None] = lambda _claims: None
        self.says: dict[str, Callable[[Any], Any]] = {}
        self.key_number = 1
        self.published = [1]
        self.audience = "http://hub.example"

    def add(self, username: str, **fields: Any) -> Person:
        person = Person(subject=f"sub-{username}", username=username, **fields)
        self.people[person.subject] = person
        return person

    def rotate(self, *, keep_old: bool = False) -> None:
        """Sign with another key from now on."""
        self.key_number += 1
        self.published = [*self.published, self.key_number] if keep_old else [self.key_number]

    def sign(self, claims: dict[str, Any], *, kid: str | None = None, typ: str = "JWT") -> str:
        headers = {"kid": kid or f"key-{self.key_number}", "typ": typ}
        return jwt.encode(claims, private_key(self.key_number), algorithm="RS256", headers=headers)

    def access_claims(self, person: Person, *, scope: str = "openid read search", **more: Any) -> dict[str, Any]:
        now = int(time.time())
        claims = {"iss": self.issuer, "sub": person.subject, "aud": self.audience, "iat": now, "exp": now + LIFE_S}
        return {**claims, "jti": secrets.token_hex(8), "client_id": "assistant", "scope": scope, **more}

    def access_token(self, person: Person, **more: Any) -> str:
        """Issue an access token, with other claims than usual where they are given."""
        return self.sign(self.access_claims(person, **more), typ="at+jwt")

    def end_sessions_of(self, person: Person) -> None:
        """Sign somebody out everywhere: their refresh tokens end."""
        for family in self.families.values():
            if family["sub"] == person.subject:
                family["ended"] = True

    def described(self) -> dict[str, Any]:
        paths = ["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "registration_endpoint"]
        paths += ["revocation_endpoint", "end_session_endpoint"]
        paths += ["introspection_endpoint"] if self.has_introspection else []
        named = {name: f"{self.issuer}/{name.removesuffix('_endpoint')}" for name in paths}
        return {
            **named,
            "issuer": self.issuer,
            "jwks_uri": f"{self.issuer}/jwks",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic", "none"],
            "scopes_supported": ["openid", "profile", "email", "offline_access", "read", "search"],
            "authorization_response_iss_parameter_supported": True,
        }


class OAuthError(Exception):
    def __init__(self, error: str, status: int = 400) -> None:
        super().__init__(error)
        self.error, self.status = error, status


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: OidcServer

    def log_message(self, *_arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Type", "").startswith("application/json"):
            self._serve(json.loads(body))
            return
        self._serve({name: values[0] for name, values in parse_qs(body.decode()).items()})

    def _serve(self, form: dict[str, Any]) -> None:
        path = urlsplit(self.path).path
        self.server.asked[path] += 1
        if self.server.is_away:
            self.close_connection = True
            self.connection.close()
            return
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        answers: dict[str, Callable[[], dict[str, Any] | str]] = {
            "/.well-known/openid-configuration": self.server.described,
            "/.well-known/oauth-authorization-server": self.server.described,
            "/jwks": lambda: {"keys": [public_jwk(number) for number in self.server.published]},
            "/authorization": lambda: self._authorize(query),
            "/token": lambda: self._token(form),
            "/userinfo": self._userinfo,
            "/introspection": lambda: self._introspect(form),
            "/registration": lambda: self._register(form),
            "/end_session": lambda: self._end_session(query),
        }
        try:
            if path not in answers:
                raise OAuthError("not_found", 404)
            answer = answers[path]()
            if path in self.server.says:
                answer = self.server.says[path](answer)
        except OAuthError as error:
            self._send(error.status, json.dumps({"error": error.error}))
            return
        if isinstance(answer, str):
            self._send(302, "", location=answer)
        else:
            self._send(201 if path == "/registration" else 200, json.dumps(answer))

    def _send(self, status: int, body: str, *, location: str = "") -> None:
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def _authorize(self, query: dict[str, str]) -> str:
        server = self.server
        client = server.clients.get(query.get("client_id", ""))
        if client is None or (client["redirect_uris"] and query.get("redirect_uri") not in client["redirect_uris"]):
            raise OAuthError("invalid_client")
        answer = {"state": query["state"], "iss": server.issuer} if "state" in query else {"iss": server.issuer}
        if query.get("code_challenge_method") != "S256" or not query.get("code_challenge"):
            answer["error"] = "invalid_request"
        elif server.person is None or not server.person.is_active:
            answer["error"] = "access_denied"
        else:
            code = secrets.token_urlsafe(24)
            server.codes[code] = {**query, "sub": server.person.subject, "at": time.time()}
            answer["code"] = code
        return f"{query['redirect_uri']}?{urlencode(answer)}"

    def _client_of(self, form: dict[str, str]) -> str:
        client_id, secret = form.get("client_id", ""), form.get("client_secret", "")
        scheme, _space, basic = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "basic":
            client_id, _colon, secret = base64.b64decode(basic).decode().partition(":")
        client = self.server.clients.get(client_id)
        if client is None or (client["client_secret"] and client["client_secret"] != secret):
            raise OAuthError("invalid_client", 401)
        return client_id

    def _token(self, form: dict[str, str]) -> dict[str, Any]:
        client_id = self._client_of(form)
        if form.get("grant_type") == "authorization_code":
            given = self.server.codes.pop(form.get("code", ""), None)
            if given is None or given["client_id"] != client_id or given["redirect_uri"] != form.get("redirect_uri"):
                raise OAuthError("invalid_grant")
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != given["code_challenge"]:
                raise OAuthError("invalid_grant")
            family = secrets.token_hex(8)
            given = self.server.families[family] = {**given, "ended": False}
        elif form.get("grant_type") == "refresh_token":
            family = self.server.refresh_tokens.get(form.get("refresh_token", ""), "")
            given = self.server.families.get(family)
            if given is None or given["ended"] or given["client_id"] != client_id:
                raise OAuthError("invalid_grant")
            if given["latest"] != form["refresh_token"]:
                given["ended"] = True  # somebody has used it before
                raise OAuthError("invalid_grant")
        else:
            raise OAuthError("unsupported_grant_type")
        return self._issue(given, family, client_id, nonce=form.get("grant_type") == "authorization_code")

    def _issue(self, given: dict[str, Any], family: str, client_id: str, *, nonce: bool) -> dict[str, Any]:
        server = self.server
        person = server.people[given["sub"]]
        if not person.is_active:
            raise OAuthError("invalid_grant")
        scope = given.get("scope") or "openid"
        more = {"aud": given["resource"]} if "resource" in given else {}
        access = server.access_token(person, scope=scope, client_id=client_id, **more)
        refresh = given["latest"] = secrets.token_urlsafe(24)
        server.refresh_tokens[refresh] = family
        now = int(time.time())
        told = {"iss": server.issuer, "aud": client_id, "iat": now, "exp": now + LIFE_S, **person.claims()}
        told["auth_time"] = int(given["at"]) if given.get("prompt") == "login" else int(given["at"]) - 7200
        if nonce and "nonce" in given:
            told["nonce"] = given["nonce"]
        server.tamper(told)
        answer = {"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": LIFE_S}
        return {**answer, "scope": scope, **({"id_token": server.sign(told)} if "openid" in scope.split() else {})}

    def _person_of(self, token: str) -> tuple[Person, dict[str, Any]]:
        keys = {f"key-{number}": private_key(number).public_key() for number in self.server.published}
        try:
            key = keys[jwt.get_unverified_header(token)["kid"]]
            claims = jwt.decode(token, key, algorithms=["RS256"], leeway=60, options={"verify_aud": False})
            person = self.server.people[claims["sub"]]
        except (jwt.PyJWTError, KeyError):
            raise OAuthError("invalid_token", 401) from None
        if not person.is_active or claims.get("jti") in self.server.revoked:
            raise OAuthError("invalid_token", 401)
        return person, claims

    def _userinfo(self) -> dict[str, Any]:
        person, claims = self._person_of(self.headers.get("Authorization", "").removeprefix("Bearer "))
        if "openid" not in claims["scope"].split():
            raise OAuthError("insufficient_scope", 403)
        return person.claims()

    def _introspect(self, form: dict[str, str]) -> dict[str, Any]:
        self._client_of(form)
        try:
            person, claims = self._person_of(form.get("token", ""))
        except OAuthError:
            return {"active": False}
        told = {name: claims[name] for name in ("sub", "exp", "client_id", "scope")}
        return {"active": True, **told, **person.claims()}

    def _register(self, form: dict[str, Any]) -> dict[str, Any]:
        client_id = secrets.token_hex(8)
        method = form.get("token_endpoint_auth_method", "none")
        secret = "" if method == "none" else secrets.token_hex(16)
        self.server.clients[client_id] = {"client_secret": secret, "redirect_uris": form["redirect_uris"]}
        told = {**form, "client_id": client_id, "token_endpoint_auth_method": method}
        return {**told, "client_secret": secret} if secret else told

    def _end_session(self, query: dict[str, str]) -> str:
        hint = jwt.decode(query["id_token_hint"], options={"verify_signature": False})
        self.server.end_sessions_of(self.server.people[hint["sub"]])
        return f"{query['post_logout_redirect_uri']}?{urlencode({'state': query.get('state', '')})}"


@contextmanager
def oidc_server() -> Iterator[OidcServer]:
    server = OidcServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
